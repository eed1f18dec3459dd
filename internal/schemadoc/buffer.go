package schemadoc

import "pdpp/internal/rawjson"

// buffer writes a document.
type buffer struct{ rawjson.Writer }

func list[S ~string](b *buffer, name string, values []S) { rawjson.List(&b.Writer, name, values) }

// listIfAny writes a list unless it is empty.
func listIfAny[S ~string](b *buffer, name string, values []S) {
	if len(values) > 0 {
		list(b, name, values)
	}
}
