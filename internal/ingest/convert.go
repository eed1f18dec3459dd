package ingest

import (
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
)

// fromJSON converts the value of a JSON row to a declared field (H-23). It returns the
// value itself when it has one of the field's types, else the value that its text
// represents. Numbers keep their digits. use is false when the field is to be left out:
// for null where null is not declared.
func fromJSON(f *pdpp.Field, value []byte) (out []byte, use, ok bool) {
	if f == nil || len(f.Types) == 0 {
		return value, true, true
	}
	switch kind := rawjson.KindOf(value); kind {
	case rawjson.KindNull:
		return value, has(f, "null"), true
	case rawjson.KindString:
		text, _ := rawjson.String(value)
		if has(f, "string") && (!f.Kind.IsTime() || isTime(text)) {
			return value, true, true // with its escapes as they are
		}
		out, ok = fromText(f, text)
		return out, true, ok
	case rawjson.KindNumber:
		if has(f, "number") || has(f, "integer") && isWhole(value) {
			return value, true, true
		}
		return plainText(f, value)
	case rawjson.KindBool:
		if has(f, "boolean") {
			return value, true, true
		}
		return plainText(f, value)
	case rawjson.KindObject:
		return value, true, has(f, "object")
	default:
		return value, true, has(f, "array")
	}
}

// plainText converts a number or boolean to a string where one is declared.
func plainText(f *pdpp.Field, value []byte) (out []byte, use, ok bool) {
	if f.Kind != pdpp.KindString {
		return nil, true, false
	}
	return rawjson.AppendString(nil, string(value)), true, true
}

// fromCell converts a CSV cell. An empty cell is null where null is declared, the empty
// string where only strings are, and otherwise missing.
func fromCell(f *pdpp.Field, cell string) (out []byte, use, ok bool) {
	if cell == "" {
		switch {
		case has(f, "null"):
			return []byte("null"), true, true
		case f.Kind == pdpp.KindString:
			return []byte(`""`), true, true
		}
		return nil, false, true
	}
	out, ok = fromText(f, cell)
	return out, true, ok
}

// fromText converts a text to one of the field's types. A field that may be a string, or
// that declares no type, gets the text unchanged.
func fromText(f *pdpp.Field, text string) ([]byte, bool) {
	if f.Kind.IsTime() {
		return timeText(text)
	}
	if has(f, "string") || len(f.Types) == 0 {
		return rawjson.AppendString(nil, text), true
	}
	text = strings.TrimSpace(text)
	if has(f, "boolean") {
		if value, ok := truth(text); ok {
			return value, true
		}
	}
	value, err := rawjson.Compact(nil, []byte(text))
	if err != nil {
		return nil, false
	}
	switch rawjson.KindOf(value) {
	case rawjson.KindNumber:
		return value, has(f, "number") || has(f, "integer") && isWhole(value)
	case rawjson.KindObject:
		return value, has(f, "object")
	case rawjson.KindArray:
		return value, has(f, "array")
	}
	return nil, false
}

// timeText accepts a time in the forms of C-34, and in the form of database exports, with
// a space in place of the T.
func timeText(text string) ([]byte, bool) {
	text = strings.TrimSpace(text)
	if !isTime(text) {
		const date = len("2006-01-02")
		if len(text) <= date || text[date] != ' ' {
			return nil, false
		}
		if text = text[:date] + "T" + text[date+1:]; !isTime(text) {
			return nil, false
		}
	}
	return rawjson.AppendString(nil, text), true
}

func isTime(text string) bool {
	_, ok := pdpp.ParseTime(text)
	return ok
}

// truth reads the usual words for true and false.
func truth(text string) ([]byte, bool) {
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		return []byte("true"), true
	case "false", "no", "0":
		return []byte("false"), true
	}
	return nil, false
}

func has(f *pdpp.Field, t string) bool { return slices.Contains(f.Types, t) }

// object builds a JSON object.
type object struct{ out []byte }

func (o *object) add(name string, value []byte) {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	} else {
		o.out = append(o.out, ',')
	}
	o.out = rawjson.AppendString(o.out, name)
	o.out = append(o.out, ':')
	o.out = append(o.out, value...)
}

func (o *object) bytes() []byte {
	if len(o.out) == 0 {
		return []byte("{}")
	}
	return append(o.out, '}')
}
