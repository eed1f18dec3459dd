// Package analyzer turns text into the terms of the lexical index. Index and query use
// the same code, so that written words can be found (rs-contract Q-4). It has no I/O, no
// settings, no language detection and no stop words.
//
// The rules, in the order they are applied:
//
//   - Variation selectors and the grapheme joiner are ignored: they choose a
//     glyph, not a word. Text is then put in NFKC: ﬁ is fi, Ａ is a, ﾊﾟ is パ,
//     ½ is 1 and 2.
//   - Simple case folding: one character for all characters of a case orbit. ς
//     and Σ are σ, ẞ is ß (and not ss: that would be full folding), ſ is s.
//     The dotless ı is a letter of its own; İ is i, as its dot is a mark.
//   - Marks on Latin, Greek and Cyrillic letters, and on digits and other
//     characters of no script, are removed, those inside a composed character
//     too: ü is u, ά is α, й is и, ё is е. Letters with a stroke (ø, ł, đ) are
//     not composed and stay. In all other scripts marks are part of the word.
//   - Terms are maximal runs of letters, marks and digits (any character of
//     category N, so that 〇 and ፩ count). Everything else separates, format
//     characters and invalid UTF-8 included. A mark that follows no letter or
//     digit is dropped.
//   - A character of Han, Hiragana, Katakana, Thai, Lao or Khmer is a term of
//     its own, together with the marks that follow it.
//   - A term is cut at 64 characters, and a character keeps at most 16 marks.
//
// Analyzing a term returns exactly that term. Terms contain only letters, marks and
// digits, so they can be joined by a space, a dot or a quotation mark without escaping.
//
// Spans returns the same terms with their positions in the text, for highlighting.
//
// The tables are those of the toolchain's Unicode version. An index that was built with
// another version has to be rebuilt.
package analyzer
