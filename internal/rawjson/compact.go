package rawjson

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that Compact accepts.
const MaxDepth = 64

// The reasons to refuse a text. Errors of Compact wrap one of them and add the byte
// offset, but no content.
var (
	ErrUTF8         = errors.New("rawjson: invalid UTF-8")
	ErrSyntax       = errors.New("rawjson: invalid JSON")
	ErrDepth        = errors.New("rawjson: nested too deep")
	ErrDuplicateKey = errors.New("rawjson: duplicate key")
)

// Compact appends src without insignificant white space to dst. It accepts
// exactly one RFC 8259 value of valid UTF-8, nested at most MaxDepth deep, without
// duplicate keys in any object (compared after decoding escapes; I-4). Numbers,
// escapes and key order are kept byte for byte. On error it returns dst as it was
// and the first problem in reading order, except that duplicates among more than
// 32 keys are found at the end of their object. dst and src must not overlap.
func Compact(dst, src []byte) ([]byte, error) { return compact(dst, src, false) }

// CompactRelayed does what Compact does, but keeps duplicate keys, of which Get finds the
// first. It is for answers of another server that are passed on (MS-36).
func CompactRelayed(dst, src []byte) ([]byte, error) { return compact(dst, src, true) }

func compact(dst, src []byte, allowDuplicates bool) ([]byte, error) {
	p := parsers.Get().(*parser)
	p.src, p.dst, p.allowDuplicates = src, slices.Grow(dst, len(src)), allowDuplicates
	out, err := p.text()
	p.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

// parsers recycles the key tables, so that Compact allocates nothing of its own.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// keptKeys bounds the key table that is reused for the next text.
const keptKeys = 4096

// parser reads one text. Its methods take the offset to read at and return the
// offset after what they read, or -1 after setting err.
type parser struct {
	src   []byte
	dst   []byte
	run   int // src[run:] is not yet copied to dst
	depth int
	err   error
	names names

	allowDuplicates bool // duplicate keys are accepted
}

func (p *parser) release() {
	if cap(p.names.keys) > keptKeys || cap(p.names.arena) > 16*keptKeys {
		return
	}
	*p = parser{names: names{keys: p.names.keys[:0], arena: p.names.arena[:0]}}
	parsers.Put(p)
}

func (p *parser) text() ([]byte, error) {
	i := p.value(p.next(0))
	if i < 0 {
		return nil, p.err
	}
	if i = p.next(i); i != len(p.src) {
		p.fail(ErrSyntax, i)
		return nil, p.err
	}
	return append(p.dst, p.src[p.run:]...), nil
}

// fail records why the text is refused. Invalid UTF-8 is ErrUTF8 wherever it is, because
// ingestion distinguishes the two (I-6).
func (p *parser) fail(reason error, i int) int {
	if reason == ErrSyntax && i < len(p.src) && p.src[i] >= utf8.RuneSelf {
		if _, n := utf8.DecodeRune(p.src[i:]); n == 1 {
			reason = ErrUTF8
		}
	}
	p.err = fmt.Errorf("%w at byte %d", reason, i)
	return -1
}

// at returns the byte at i, or NUL after the end, which no grammar rule accepts.
func (p *parser) at(i int) byte {
	if i < len(p.src) {
		return p.src[i]
	}
	return 0
}

// next skips white space.
func (p *parser) next(i int) int {
	if i < len(p.src) && p.src[i] <= ' ' {
		return p.gap(i)
	}
	return i
}

// gap copies the bytes before white space to dst and skips the white space.
func (p *parser) gap(i int) int {
	p.dst = append(p.dst, p.src[p.run:i]...)
	for i < len(p.src) && isSpace(p.src[i]) {
		i++
	}
	p.run = i
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func (p *parser) value(i int) int {
	switch p.at(i) {
	case '"':
		end, _ := p.str(i + 1)
		return end
	case '{':
		return p.object(i)
	case '[':
		return p.array(i)
	case 't':
		return p.literal(i, "true")
	case 'f':
		return p.literal(i, "false")
	case 'n':
		return p.literal(i, "null")
	}
	return p.number(i)
}

func (p *parser) literal(i int, word string) int {
	end := i + len(word)
	if end > len(p.src) || string(p.src[i:end]) != word {
		return p.fail(ErrSyntax, i)
	}
	return end
}

func (p *parser) array(i int) int {
	if p.depth == MaxDepth {
		return p.fail(ErrDepth, i)
	}
	p.depth++
	i = p.next(i + 1)
	if p.at(i) == ']' {
		p.depth--
		return i + 1
	}
	for {
		if i = p.value(i); i < 0 {
			return i
		}
		i = p.next(i)
		switch p.at(i) {
		case ',':
			i = p.next(i + 1)
		case ']':
			p.depth--
			return i + 1
		default:
			return p.fail(ErrSyntax, i)
		}
	}
}

// object reads the object that begins at i and returns the position after it.
func (p *parser) object(i int) int {
	if p.depth == MaxDepth {
		return p.fail(ErrDepth, i)
	}
	p.depth++
	i = p.next(i + 1)
	if p.at(i) == '}' {
		p.depth--
		return i + 1
	}
	scope := p.names.open()
	for {
		if i = p.member(i, &scope); i < 0 {
			return i
		}
		i = p.next(i)
		switch p.at(i) {
		case ',':
			i = p.next(i + 1)
		case '}':
			if at := p.names.close(scope, p.src); at >= 0 {
				return p.fail(ErrDuplicateKey, at)
			}
			p.depth--
			return i + 1
		default:
			return p.fail(ErrSyntax, i)
		}
	}
}

// member reads one key, its colon and its value.
func (p *parser) member(i int, s *scope) int {
	if p.at(i) != '"' {
		return p.fail(ErrSyntax, i)
	}
	end, escaped := p.str(i + 1)
	if end < 0 {
		return end
	}
	if !p.allowDuplicates && !p.names.add(s, p.src, span{i + 1, end - 1}, escaped) {
		return p.fail(ErrDuplicateKey, i)
	}
	if i = p.next(end); p.at(i) != ':' {
		return p.fail(ErrSyntax, i)
	}
	return p.value(p.next(i + 1))
}
