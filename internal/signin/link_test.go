package signin

import (
	"sync"
	"testing"
	"time"

	"pdpp"
)

func (w *world) link(p LinkPurpose, ttl time.Duration) string {
	w.Helper()
	code, err := w.NewLink(w.Context(), w.owner.ID, p, ttl)
	w.check(err)
	return code
}

func TestH13FirstRun(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	former := w.link(LinkFirstRun, FirstRunLife)
	code := w.link(LinkFirstRun, FirstRunLife)
	if len(code) != 22 {
		t.Errorf("code %q has not 128 bits", code)
	}
	_, err := w.FirstRun(ctx, former, right, home)
	w.wantCode("the code of a former start", err, pdpp.CodeNotFound)
	_, _, err = w.UseLink(ctx, code, home)
	w.wantCode("a first-run code as a sign-in link", err, pdpp.CodeNotFound)
	for range 2 { // a GET of the page changes nothing
		if owner, err := w.CheckLink(ctx, code, LinkFirstRun); owner != w.owner.ID || err != nil {
			t.Errorf("CheckLink = %v, %v", owner, err)
		}
	}
	_, err = w.FirstRun(ctx, code, "short", home)
	w.wantCode("a short password", err, pdpp.CodeInvalidInput)
	cookie, err := w.FirstRun(ctx, code, right, home)
	w.check(err)
	if s := w.session(cookie); s.Method != ByFirstRun || s.Owner != "ada" {
		t.Errorf("session %+v", s)
	}
	_, err = w.FirstRun(ctx, code, right, home)
	w.wantCode("a second use", err, pdpp.CodeNotFound)
	w.signIn()
}

func TestH13FirstRunOnlyWhileThereIsNoPassword(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	code := w.link(LinkFirstRun, FirstRunLife)
	if can, err := w.CanSignIn(ctx, w.owner.ID); can || err != nil {
		t.Errorf("CanSignIn = %v, %v before the first password", can, err)
	}
	if set, err := w.SetFirstPassword(ctx, w.owner.ID, right); !set || err != nil {
		t.Fatalf("SetFirstPassword = %v, %v", set, err)
	}
	_, err := w.CheckLink(ctx, code, LinkFirstRun)
	w.wantCode("a code after the first password", err, pdpp.CodeNotFound)
	_, err = w.FirstRun(ctx, code, "the password of another", home)
	w.wantCode("a code after the first password", err, pdpp.CodeNotFound)
	if set, err := w.SetFirstPassword(ctx, w.owner.ID, "the password of another"); set || err != nil {
		t.Errorf("a second first password: %v, %v", set, err)
	}
	for what, has := range map[string]func() (bool, error){
		"CanSignIn":   func() (bool, error) { return w.CanSignIn(ctx, w.owner.ID) },
		"HasPassword": func() (bool, error) { return w.HasPassword(ctx, w.owner.ID) },
	} {
		if yes, err := has(); !yes || err != nil {
			t.Errorf("%s = %v, %v", what, yes, err)
		}
	}
	w.signIn()
}

func TestH13CodeExpires(t *testing.T) {
	w := newWorld(t)
	code, link := w.link(LinkFirstRun, FirstRunLife), w.link(LinkSignIn, time.Minute)
	w.wait(time.Minute - time.Second)
	if _, err := w.CheckLink(w.Context(), link, LinkSignIn); err != nil {
		t.Errorf("before its end: %v", err)
	}
	w.wait(time.Second)
	_, _, err := w.UseLink(w.Context(), link, home)
	w.wantCode("an expired link", err, pdpp.CodeNotFound)
	w.wait(FirstRunLife)
	_, err = w.FirstRun(w.Context(), code, right, home)
	w.wantCode("an expired code", err, pdpp.CodeNotFound)
}

func TestH13ParallelUseHasOneWinner(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	link := w.link(LinkSignIn, time.Minute)
	code := w.link(LinkFirstRun, time.Minute)
	winners := func(visitors int, use func() (string, error)) (n int) {
		var wg sync.WaitGroup
		cookies, errs := make([]string, visitors), make([]error, visitors)
		for i := range cookies {
			wg.Go(func() { cookies[i], errs[i] = use() })
		}
		wg.Wait()
		for i, c := range cookies {
			if c != "" {
				n++
				w.session(c)
			} else {
				w.wantCode("a loser", errs[i], pdpp.CodeNotFound)
			}
		}
		return n
	}
	if n := winners(8, func() (string, error) {
		cookie, _, err := w.UseLink(ctx, link, home)
		return cookie, err
	}); n != 1 {
		t.Errorf("%d sign-ins with one link", n)
	}
	if n := winners(maxHashes, func() (string, error) { return w.FirstRun(ctx, code, right, home) }); n != 1 {
		t.Errorf("%d first runs with one code", n)
	}
}
