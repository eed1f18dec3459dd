package pkgreader

import (
	"fmt"
	"testing"
	"time"

	"pdpp/internal/rsclient"
)

func TestMemory(t *testing.T) {
	now := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	revoked := &rsclient.Error{Status: 403, Code: "grant_revoked"}
	t.Run("H-94 a failure is remembered for a minute, of one member of one package", func(t *testing.T) {
		var m Memory
		m.keep("p", "g", revoked, now)
		for _, c := range []struct {
			pkg, grant string
			after      time.Duration
			want       *rsclient.Error
		}{
			{"p", "g", remembered - 1, revoked}, {"p", "h", 0, nil}, {"q", "g", 0, nil}, {"p", "g", remembered, nil}, {"p", "g", 0, nil},
		} {
			if got := m.lost(c.pkg, c.grant, now.Add(c.after)); got != c.want {
				t.Errorf("lost(%s, %s) after %v = %v, want %v", c.pkg, c.grant, c.after, got, c.want)
			}
		}
	})
	t.Run("H-94 a success clears it", func(t *testing.T) {
		p := Package{ID: "p", Memory: new(Memory), Clock: func() time.Time { return now }}
		member := &Member{GrantID: "g"}
		p.remember(member, revoked)
		if p.Memory.lost("p", "g", now) == nil {
			t.Fatal("it is not remembered")
		}
		p.remember(member, nil)
		if e := p.Memory.lost("p", "g", now); e != nil {
			t.Errorf("still %v", e)
		}
	})
	t.Run("H-94 it keeps at most maxRemembered, the latest among them", func(t *testing.T) {
		var m Memory
		for i := range 2 * maxRemembered {
			m.keep("p", fmt.Sprint(i), revoked, now)
			if n := len(m.failures); n > maxRemembered || i >= maxRemembered && n < maxRemembered/2 {
				t.Fatalf("%d are remembered", n)
			}
		}
		if m.lost("p", fmt.Sprint(2*maxRemembered-1), now) == nil {
			t.Error("the latest is not among them")
		}
	})
}
