package demo

import (
	"strings"
	"unicode"
)

// functionWords are short words that are common in one language and rare in the others.
var functionWords = map[string]string{
	"en": "the and is of that it you with was are this have for not your from has been which they my there",
	"de": "der die das und ist nicht ich sie wir ein eine auf mit für wird bitte zu dem den von es uns ihr hat im am wie ihre",
	"sv": "och är jag inte det som på till när du med av har ett din hej kan",
	"fr": "le la les et est je tu une pour qui pas dans que avec nous vous ce sur mais il elle du ma mon des",
	"es": "el los las y es una para con por no lo que te mi pero como más del ya se",
}

var languageOfWord = func() map[string][]string {
	m := make(map[string][]string)
	for _, lang := range []string{"en", "de", "sv", "fr", "es"} {
		for word := range strings.FieldsSeq(functionWords[lang]) {
			m[word] = append(m[word], lang)
		}
	}
	return m
}()

// languageOf returns the main language of a message, without its quoted lines. It returns
// fallback for texts that it cannot classify.
func languageOf(text, fallback string) string {
	points := make(map[string]int)
	var japanese, arabic int
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ">") {
			continue
		}
		for _, r := range line {
			switch {
			case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han):
				japanese++
			case unicode.Is(unicode.Arabic, r):
				arabic++
			}
		}
		words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) })
		for _, word := range words {
			for _, lang := range languageOfWord[word] {
				points[lang]++
			}
		}
	}
	// About 6 Japanese or 10 Arabic characters correspond to one function word of the other
	// languages.
	points["ja"], points["ar"] = japanese/6, arabic/10
	best := fallback
	for _, lang := range []string{"en", "de", "sv", "fr", "es", "ja", "ar"} {
		if points[lang] > points[best] {
			best = lang
		}
	}
	return best
}
