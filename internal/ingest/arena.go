package ingest

import "pdpp/internal/rawjson"

// blockSize is the size of the blocks that compact lines are written to. Records alias
// their block, so a block is retained as long as one of its records.
const blockSize = 256 << 10

// arena allocates the lines of one batch: one allocation for many lines.
type arena struct{ block []byte }

// compact checks a line and stores it without insignificant white space.
func (a *arena) compact(line []byte) ([]byte, error) {
	if cap(a.block)-len(a.block) < len(line) {
		a.block = make([]byte, 0, max(blockSize, len(line)))
	}
	start := len(a.block)
	out, err := rawjson.Compact(a.block[start:start:cap(a.block)], line)
	if err != nil {
		return nil, err
	}
	a.block = a.block[:start+len(out)]
	return out[:len(out):len(out)], nil
}

// object returns what compact does, for a line that must be an object.
func (a *arena) object(line []byte) ([]byte, *Rejection) {
	obj, err := a.compact(line)
	if err != nil {
		return nil, refusal(err)
	}
	if rawjson.KindOf(obj) != rawjson.KindObject {
		return nil, &Rejection{malformedNDJSON, "The line is not a JSON object."}
	}
	return obj, nil
}
