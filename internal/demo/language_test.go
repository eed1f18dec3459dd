package demo

import "testing"

func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]string{
		"Ist notiert, danke! Ich bringe Brot mit.\n\nMara":                                               "de",
		"Hej gumman,\n\nI made the crispbread and it was eaten before I sat down.":                       "en",
		"Danke, ich bin dabei.\n\nOn 5 May, Imogen wrote:\n> the rope is tarred and it was not the wind": "de",
		"Det regnar, och jag är inte ute. Ring när du kan.":                                              "sv",
		"Je suis fatiguée, mais il est tard et je dors peu.":                                             "fr",
		"La caja de naranjas no es para ti: se ofenden.":                                                 "es",
		"Dear Mara (まらさん), 今日は雨で、お客さんは三人だけでした。":                                                          "ja",
		"أهلاً وسهلاً بكم في البيت!":                                                                     "ar",
		"12:30": "xx",
	} {
		if got := languageOf(text, "xx"); got != want {
			t.Errorf("languageOf(%q) = %s, want %s", text, got, want)
		}
	}
}

// The language of a message is that of its text, not that of its sender.
func TestLetterLanguages(t *testing.T) {
	got := map[string]map[string]int{}
	for _, p := range everything(t) {
		if p.connector != "mail" || p.Stream != "messages" {
			continue
		}
		from := text(p.Data["from_name"])
		if got[from] == nil {
			got[from] = map[string]int{}
		}
		got[from][text(p.Data["language"])]++
	}
	if n := got["Mara Lindqvist"]; n["en"] == 0 || n["de"] == 0 || n["en"]+n["de"] < 200 {
		t.Errorf("Mara writes English and German: %v", n)
	}
	if n := got["Ingrid Lindqvist"]; n["en"] < 80 {
		t.Errorf("Ingrid writes English, with Swedish greetings: %v", n)
	}
	if n := got["Lucía Ferrer"]; n["es"] != 34 || len(n) != 1 {
		t.Errorf("Lucía writes Spanish: %v", n)
	}
}
