package activity

import (
	"iter"
	"sync"

	"pdpp"
	"pdpp/internal/store"
)

// Tally is what one read has returned. The zero value is empty; it is used by one
// goroutine.
type Tally struct {
	Key  store.ReadKey // without the day; its stream is the one that was asked for
	few  [2]streamCount
	more map[string]int64 // further streams
}

type streamCount struct {
	stream  string
	records int64
}

// Add counts n records of a stream of the grant.
func (t *Tally) Add(stream string, n int64) {
	if n == 0 {
		return
	}
	for i := range t.few {
		if c := &t.few[i]; c.records == 0 || c.stream == stream {
			c.stream = stream
			c.records += n
			return
		}
	}
	if t.more == nil {
		t.more = map[string]int64{}
	}
	t.more[stream] += n
}

// Merge counts the records that another read has returned.
func (t *Tally) Merge(other *Tally) {
	for stream, n := range other.streams() {
		t.Add(stream, n)
	}
}

// streams yields the streams of which records were returned, with their number.
func (t *Tally) streams() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for _, c := range t.few {
			if c.records != 0 && !yield(c.stream, c.records) {
				return
			}
		}
		for stream, n := range t.more {
			if !yield(stream, n) {
				return
			}
		}
	}
}

// Call is a tool call in progress, with one grant. Its reads of /v1 are counted together,
// as one read of the tool.
type Call struct {
	mu    sync.Mutex
	state callState
}

type callState struct {
	via     string // the tool; "" if no call is in progress
	tally   Tally
	read    bool
	refused pdpp.Code
}

// Begin begins a call of a tool; Recorder.EndCall ends it.
func (c *Call) Begin(tool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = callState{via: tool}
}

// join adds a read to the call in progress, and reports whether there is one.
func (c *Call) join(t *Tally) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.enter(t.Key) {
		return false
	}
	c.state.read = true
	c.state.tally.Merge(t)
	return true
}

// refuse adds a refusal to the call in progress, and reports whether there is one.
func (c *Call) refuse(k store.ReadKey, code pdpp.Code) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.enter(k) {
		return false
	}
	c.state.refused = code
	return true
}

// enter takes the grant of a read, and its stream if no earlier read of the call asked for
// one. It returns false if no call is in progress.
func (s *callState) enter(k store.ReadKey) bool {
	if s.via == "" {
		return false
	}
	if s.tally.Key.Stream != "" {
		k.Stream = s.tally.Key.Stream
	}
	k.Via = s.via
	s.tally.Key = k
	return true
}
