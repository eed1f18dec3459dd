package quote

import "pdpp/internal/rawjson"

// WriteID writes a member that is an identifier as ID writes it.
func WriteID(w *rawjson.Writer, name, id string) {
	w.Key(name)
	*w = AppendID(*w, id)
}

// WriteText writes a member that is a value as Text writes it.
func WriteText(w *rawjson.Writer, name, value string) {
	w.Key(name)
	*w = AppendText(*w, value)
}

// WriteKey begins a member whose name is an identifier, written as ID writes it.
func WriteKey(w *rawjson.Writer, name string) {
	w.Comma()
	*w = append(AppendID(*w, name), ':')
}

// WriteList writes a member that is an array of identifiers.
func WriteList(w *rawjson.Writer, name string, ids []string) {
	w.OpenArray(name)
	for _, id := range ids {
		w.Comma()
		*w = AppendID(*w, id)
	}
	w.End("]")
}
