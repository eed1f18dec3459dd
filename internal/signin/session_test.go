package signin

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

func TestH175SessionEndsWhenIdle(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	cookie := w.signIn()
	for range 3 {
		w.wait(sessionIdle - time.Second)
		w.session(cookie)
	}
	w.wait(sessionIdle)
	_, err := w.Session(w.Context(), cookie)
	w.wantCode("idle for a day", err, pdpp.CodeAuthentication)
}

func TestH175SessionEndsAfterAWeek(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	cookie := w.signIn()
	for range 7*24/12 - 1 {
		w.wait(12 * time.Hour)
		w.session(cookie)
	}
	w.wait(12*time.Hour - time.Second)
	w.session(cookie)
	w.wait(time.Second)
	_, err := w.Session(w.Context(), cookie)
	w.wantCode("after a week", err, pdpp.CodeAuthentication)
	if list, err := w.Sessions(w.Context(), w.owner.ID); len(list) != 0 || err != nil {
		t.Errorf("Sessions lists ended ones: %v, %v", list, err)
	}
}

func TestH175LastSeenIsWrittenOnceAMinute(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	cookie := w.signIn()
	start := w.Clock()
	stored := func() time.Time {
		list, err := w.Sessions(w.Context(), w.owner.ID)
		w.check(err)
		return list[0].SeenAt
	}
	w.wait(time.Minute - time.Second)
	w.session(cookie)
	if got := stored(); !got.Equal(start) {
		t.Errorf("seen %v after 59 s, want the first time %v", got, start)
	}
	w.wait(time.Second)
	w.session(cookie)
	if got := stored(); !got.Equal(w.Clock()) {
		t.Errorf("seen %v after a minute, want %v", got, w.Clock())
	}
}

func TestH175SessionRow(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	v := home
	v.UserAgent = "Evil\u202e\x1b[31m " + strings.Repeat("ä", 300)
	cookie, _, err := w.Password(w.Context(), "ada", right, v)
	w.check(err)
	s := w.session(cookie)
	if s.Subject != w.owner.ID || s.Owner != "ada" || s.Address != "192.0.2.1" || s.Method != ByPassword || !s.CreatedAt.Equal(w.Clock()) {
		t.Errorf("session %+v", s)
	}
	if utf8.RuneCountInString(s.UserAgent) != maxUserAgent || strings.ContainsAny(s.UserAgent, "\u202e\x1b") {
		t.Errorf("user agent %q", s.UserAgent)
	}
	if len(cookie) != 43 || strings.Contains(s.ID, cookie) {
		t.Errorf("cookie %q, id %q", cookie, s.ID)
	}
	w.update(func(tx store.Tx) error {
		e, err := tx.Entry(store.EntrySession, secret.Hash(cookie))
		if err == nil && !e.DeleteAfter.Equal(s.CreatedAt.Add(sessionLife)) {
			t.Errorf("the row is kept until %v", e.DeleteAfter)
		}
		return err
	})
}

func TestH175SessionFixation(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	const planted = "a-cookie-that-an-attacker-has-set-in-a-browser"
	_, err := w.Session(w.Context(), planted)
	w.wantCode("a planted cookie before sign-in", err, pdpp.CodeAuthentication)
	first, second := w.signIn(), w.signIn()
	if first == second || first == planted {
		t.Error("sign-in did not make a new cookie")
	}
	for what, cookie := range map[string]string{
		"a planted cookie after sign-in": planted, "no cookie": "", "the id of a session": w.session(first).ID, "the key of a row": secret.Hash(first),
	} {
		_, err := w.Session(w.Context(), cookie)
		w.wantCode(what, err, pdpp.CodeAuthentication)
	}
}

func TestH179Sessions(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	other := w.addOwner("grace")
	ctx := w.Context()
	var cookies []string
	for range 3 {
		cookies = append(cookies, w.signIn())
		w.wait(time.Minute)
	}
	list, err := w.Sessions(ctx, w.owner.ID)
	w.check(err)
	if len(list) != 3 || list[0].ID != w.session(cookies[2]).ID {
		t.Fatalf("sessions %+v", list)
	}
	w.wantCode("another owner ends a session", w.EndSession(ctx, other.ID, list[0].ID), pdpp.CodeNotFound)
	w.session(cookies[2])
	w.check(w.EndSession(ctx, w.owner.ID, list[0].ID))
	_, err = w.Session(ctx, cookies[2])
	w.wantCode("an ended session", err, pdpp.CodeAuthentication)
	w.wantCode("ended twice", w.EndSession(ctx, w.owner.ID, list[0].ID), pdpp.CodeNotFound)
	w.check(w.touch(ctx, cookies[2], w.Clock()))
	_, err = w.Session(ctx, cookies[2])
	w.wantCode("a session that ended while it was recorded", err, pdpp.CodeAuthentication)
	w.session(cookies[0])
	w.check(w.SignOut(ctx, cookies[0]))
	w.check(w.SignOut(ctx, cookies[0]))
	_, err = w.Session(ctx, cookies[0])
	w.wantCode("signed out", err, pdpp.CodeAuthentication)
}

func TestH179ChangePassword(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	ctx := w.Context()
	mine, others := w.signIn(), w.signIn()
	link, err := w.NewLink(ctx, w.owner.ID, LinkSignIn, time.Hour)
	w.check(err)
	in := w.session(mine)
	const next = "an even better one"
	w.wantCode("short", w.ChangePassword(ctx, in, right, "short", home), pdpp.CodeInvalidInput)
	err = w.ChangePassword(ctx, in, "a wrong password", next, home)
	w.wantCode("wrong current password", err, pdpp.CodeAuthentication)
	if e := err.(*pdpp.Error); e.Param != "current" {
		t.Errorf("the error is about %q", e.Param)
	}
	w.session(others)
	w.check(w.ChangePassword(ctx, in, right, next, home))
	w.session(mine)
	_, err = w.Session(ctx, others)
	w.wantCode("another session", err, pdpp.CodeAuthentication)
	_, _, err = w.UseLink(ctx, link, home)
	w.wantCode("a link from before", err, pdpp.CodeNotFound)
	_, _, err = w.Password(ctx, "ada", right, home)
	w.wantCode("the former password", err, pdpp.CodeAuthentication)
	_, failures, err := w.Password(ctx, "ada", next, home)
	w.check(err)
	if failures != 2 {
		t.Errorf("%d failures, want 2: the wrong current password and the former one", failures)
	}
}

func TestH179ConfirmIsThrottled(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	in := w.session(w.signIn())
	for range freeFailures {
		w.wantCode("a guess", w.Confirm(w.Context(), in, "a wrong password", home), pdpp.CodeAuthentication)
	}
	w.wantCode("too many guesses", w.Confirm(w.Context(), in, right, home), pdpp.CodeRateLimited)
	w.wait(firstWait)
	w.check(w.Confirm(w.Context(), in, right, home))
}

func TestH179ConfirmWithoutPassword(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	code, err := w.NewLink(ctx, w.owner.ID, LinkSignIn, time.Minute)
	w.check(err)
	cookie, _, err := w.UseLink(ctx, code, home)
	w.check(err)
	in := w.session(cookie)
	w.check(w.Confirm(ctx, in, "", home))
	w.wait(recentSignIn)
	w.wantCode("ten minutes later", w.Confirm(ctx, in, "", home), pdpp.CodePermission)
	w.wantCode("a first password ten minutes later", w.ChangePassword(ctx, in, "", right, home), pdpp.CodePermission)
}
