package analyzer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// terms collects the terms of text.
func terms(text string) []string {
	var got []string
	Terms(text, func(term []byte) bool {
		got = append(got, string(term))
		return true
	})
	return got
}

func TestTerms(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want string // joined by spaces
	}{
		"empty":                {"", ""},
		"only separators":      {" \t.,;-\"'\x00\x7f", ""},
		"english":              {"The Rent, for the FLAT (2nd).", "the rent for the flat 2nd"},
		"apostrophe":           {"don't", "don t"},
		"typographic":          {"“It’s” – really…yes", "it s really yes"},
		"identifiers":          {"INV-2026/04 user@example.org", "inv 2026 04 user example org"},
		"german":               {"Müller Straße STRAẞE Öl", "muller straße straße ol"},
		"german decomposed":    {"Mu\u0308ller", "muller"},
		"french":               {"L’été, garçon, Œuvre À", "l ete garcon œuvre a"},
		"spanish":              {"¿Mañana? ¡Sí!", "manana si"},
		"vietnamese":           {"Việt Nam Đường", "viet nam đuong"},
		"stroke stays":         {"Łódź København", "łodz københavn"},
		"turkish":              {"İstanbul ısı", "istanbul ısı"},
		"ligatures":            {"ﬁn oﬃce ĳs", "fin office ijs"},
		"greek":                {"Ὀδυσσεύς ΟΔΥΣΣΕΥΣ άΆ", "οδυσσευσ οδυσσευσ αα"},
		"micro and ohm":        {"µ Ω", "μ ω"},
		"cyrillic":             {"Йод ёлка ЩИ", "иод елка щи"},
		"old cyrillic":         {"ᲀ в҃", "в в"},
		"japanese":             {"東京タワーへ行く", "東 京 タ ワ ー へ 行 く"},
		"voiced kana":          {"がぎ か\u3099", "が ぎ が"},
		"halfwidth kana":       {"ﾊﾟﾝｶﾞ", "パ ン ガ"},
		"kana and latin":       {"Tシャツ2枚", "t シ ャ ツ 2 枚"},
		"chinese":              {"二〇二六年，你好。", "二 〇 二 六 年 你 好"},
		"compatibility han":    {"\uF900", "豈"},
		"han variation":        {"葛\U000E0100飾", "葛 飾"},
		"thai":                 {"กินข้าว", "กิ น ข้ า ว"},
		"thai sara am":         {"น้ำ", "น\u0e49\u0e4d า"},
		"lao":                  {"ລາວ", "ລ າ ວ"},
		"khmer":                {"ខ្មែរ", "ខ្ មែ រ"},
		"korean":               {"안녕하세요 세계", "안녕하세요 세계"},
		"korean jamo":          {"\u1112\u1161\u11AB", "한"},
		"arabic":               {"مَرْحَبًا بالعالم", "مَرْحَبًا بالعالم"},
		"hebrew":               {"שָׁלוֹם", "ש\u05B8\u05C1לו\u05B9ם"},
		"hindi":                {"नमस्ते दुनिया", "नमस्ते दुनिया"},
		"armenian":             {"Հայաստան", "հայաստան"},
		"georgian":             {"ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ", "საქართველო"},
		"emoji":                {"ok 👍🏽❤️👩‍👩‍👧 fine", "ok fine"},
		"keycap":               {"1️⃣2", "12"},
		"emoji in word":        {"a❤️b", "a b"},
		"digits":               {"3.14 1,000 ٣٤", "3 14 1 000 ٣٤"},
		"composed digits":      {"x² ½ ① Ⅷ", "x2 1 2 1 viii"},
		"fullwidth":            {"ＡＢＣ１２３！ｄ", "abc123 d"},
		"units":                {"5㎏ ℃", "5kg c"},
		"invalid utf-8":        {"ab\xffcd \xc3 e\xe2\x80f", "ab cd e f"},
		"invalid does not mix": {"\xe4\ufe0f\xb8\x80", ""},
		"soft hyphen":          {"ab\u00adcd", "ab cd"},
		"lonely marks":         {"\u0308 \u0301a <\u0338b", "a b"},
		"ideographic space":    {"a　b", "a b"},
		"mixed scripts":        {"aक्ष漢b", "aक्ष 漢 b"},
		"repeated":             {"a A ä", "a a a"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, strings.Join(terms(tt.text), " ")); diff != "" {
				t.Errorf("Terms(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestTermsCut(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"64 stay":         {strings.Repeat("a", 64), []string{strings.Repeat("a", 64)}},
		"65 are cut":      {strings.Repeat("A", 65) + " b", []string{strings.Repeat("a", 64), "b"}},
		"characters":      {strings.Repeat("ж", 100), []string{strings.Repeat("ж", 64)}},
		"late non-ASCII":  {strings.Repeat("a", 64) + "é b", []string{strings.Repeat("a", 64), "b"}},
		"late separator":  {strings.Repeat("a", 70) + "—b", []string{strings.Repeat("a", 64), "b"}},
		"widest":          {strings.Repeat("𞤢", 65), []string{strings.Repeat("𞤢", 64)}},
		"too many marks":  {"क" + strings.Repeat("\u0941", 40) + "ख", []string{"क" + strings.Repeat("\u0941", 16) + "ख"}},
		"marks on a kana": {"ハ" + strings.Repeat("\u0301", 99) + "ハ", []string{"ハ" + strings.Repeat("\u0301", 16), "ハ"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, terms(tt.text)); diff != "" {
				t.Errorf("Terms (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTermsStops(t *testing.T) {
	for _, text := range []string{"a b c", "é b c", "漢字 c", "a漢b"} {
		n := 0
		Terms(text, func([]byte) bool { n++; return false })
		if n != 1 {
			t.Errorf("Terms(%q) called yield %d times after false, want 1", text, n)
		}
	}
}

func TestTermsNested(t *testing.T) {
	var got []string
	Terms("ab Éc", func(outer []byte) bool {
		Terms("xÿz w", func(inner []byte) bool {
			got = append(got, string(outer)+string(inner))
			return true
		})
		return true
	})
	want := []string{"abxyz", "abw", "ecxyz", "ecw"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nested Terms (-want +got):\n%s", diff)
	}
}

func TestQuery(t *testing.T) {
	for q, want := range map[string][]string{
		"":                             nil,
		"…":                            nil,
		"rent April RENT":              {"rent", "april"},
		`"rent" AND NOT (april* OR x)`: {"rent", "and", "not", "april", "or", "x"},
		"Müller muller":                {"muller"},
		"東京東":                          {"東", "京"},
	} {
		if diff := cmp.Diff(want, Query(q)); diff != "" {
			t.Errorf("Query(%q) (-want +got):\n%s", q, diff)
		}
	}
}

func TestTermsASCIIDoesNotAllocate(t *testing.T) {
	yield := func([]byte) bool { return true }
	text := strings.Repeat("The Rent, for the FLAT (2nd). ", 20)
	if n := testing.AllocsPerRun(100, func() { Terms(text, yield) }); n >= 1 {
		t.Errorf("Terms allocates %v times per call, want 0", n)
	}
}

// TestTermsLongSegment has no separator in more text than is kept in the pool.
func TestTermsLongSegment(t *testing.T) {
	const n = maxPooled
	got := terms(strings.Repeat("漢Ａ", n))
	if len(got) != 2*n || got[0] != "漢" || got[2*n-1] != "a" {
		t.Errorf("Terms gives %d terms from %q to %q, want %d from 漢 to a", len(got), got[0], got[len(got)-1], 2*n)
	}
}
