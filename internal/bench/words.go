package bench

import "math/bits"

// dice is a small deterministic source of numbers (splitmix64).
type dice struct{ state uint64 }

func (d *dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return mix(d.state)
}

// mix maps a number to a pseudo-random one. The mapping is one-to-one.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (d *dice) below(n int) int {
	hi, _ := bits.Mul64(d.next(), uint64(n))
	return int(hi)
}

const (
	vocabularySize = 20000
	wheelSize      = 1 << 18
)

// vocabulary is an invented language with the word frequencies of a real one: the r-th most
// frequent word has a share of about 1/r.
type vocabulary struct {
	words []string
	wheel []uint16 // indexes of words, each as often as its share
}

func newVocabulary() *vocabulary {
	v := &vocabulary{words: make([]string, 0, vocabularySize)}
	d := dice{state: 1}
	seen := make(map[string]bool, vocabularySize)
	for len(v.words) < vocabularySize {
		w := newWord(&d, len(v.words))
		if !seen[w] {
			seen[w] = true
			v.words = append(v.words, w)
		}
	}
	total := 0.0
	for r := range v.words {
		total += share(r)
	}
	for r := range v.words {
		for range max(1, int(wheelSize*share(r)/total)) {
			v.wheel = append(v.wheel, uint16(r))
		}
	}
	return v
}

func share(rank int) float64 { return 1 / float64(rank+3) }

var (
	onsets = []string{"b", "br", "c", "d", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "tr", "v", "w"}
	vowels = []string{"a", "e", "i", "o", "u", "ai", "ea", "ou"}
	codas  = []string{"", "", "", "l", "n", "r", "s", "t", "nd"}
)

// newWord returns a word of one to four syllables; frequent words are short. One word in
// fifty has a letter outside ASCII, as in most languages.
func newWord(d *dice, rank int) string {
	n := 2 + d.below(3)
	if rank < 300 {
		n = 1 + d.below(2)
	}
	w := ""
	for range n {
		vowel := vowels[d.below(len(vowels))]
		if d.below(125) == 0 {
			vowel = "é"
		}
		w += onsets[d.below(len(onsets))] + vowel + codas[d.below(len(codas))]
	}
	return w
}

// pick returns a random word.
func (v *vocabulary) pick(d *dice) string { return v.words[v.wheel[d.below(len(v.wheel))]] }
