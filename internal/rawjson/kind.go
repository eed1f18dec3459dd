package rawjson

// Kind is the kind of a compact value. The first byte determines it.
type Kind byte

// The kinds. KindNone is the kind of no bytes at all.
const (
	KindNone Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
	KindStub
)

// KindOf returns the kind of a compact value or stub.
func KindOf(value []byte) Kind {
	if len(value) == 0 {
		return KindNone
	}
	switch value[0] {
	case '"':
		return KindString
	case '{':
		return KindObject
	case '[':
		return KindArray
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	case 0:
		return KindStub
	}
	return KindNumber
}
