package httpx

import (
	"context"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	turns := NewTurns(1, 2)
	take := func() func() {
		t.Helper()
		done, err := turns.Take(t.Context(), "tok_x")
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	first, second := take(), take()
	late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := turns.Take(late, "tok_x"); err == nil {
		t.Error("a third request of one token has its turn beside two others")
	}
	other, err := turns.Take(t.Context(), "tok_y")
	if err != nil {
		t.Errorf("another token waits: %v", err)
	}
	first()
	third := take()
	second()
	third()
	other()
	if len(turns.lines) != 0 {
		t.Errorf("%d lines are left", len(turns.lines))
	}
	if done, err := NewTurns(0, 2).Take(t.Context(), "tok_x"); err != nil {
		t.Error(err)
	} else {
		done()
	}
}
