package signin

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pdpp"
)

func TestPasswordHash(t *testing.T) {
	hash := hashPassword(right)
	const cost = "$argon2id$v=19$m=65536,t=3,p=1$"
	if !strings.HasPrefix(hash, cost) || len(hash) != len(cost)+22+1+43 {
		t.Errorf("hash %q", hash)
	}
	// H-177: an unknown owner must cost as much as a wrong password.
	if no := impossibleHash(); !strings.HasPrefix(no, cost) || len(no) != len(hash) {
		t.Errorf("the hash of no password is %q, of another form than %q", no, hash)
	}
	for password, want := range map[string]bool{right: true, right + " ": false} {
		if got, err := verifyPassword(password, hash); got != want || err != nil {
			t.Errorf("verifyPassword(%q) = %v, %v", password, got, err)
		}
	}
	if hashPassword(right) == hash {
		t.Error("two hashes of one password are equal: there is no salt")
	}
}

func TestPasswordHashMalformed(t *testing.T) {
	valid := cheapHash(right)
	parts := strings.Split(valid, "$")
	for _, bad := range []string{
		"", "plain", "$argon2id$v=19$m=8,t=1,p=1$c2FsdA$", "$argon2id$v=19$m=8,t=1,p=1$c2FsdA$!!", "$argon2id$v=19$m=8,t=1,p=1$!!$" + parts[5],
		strings.Replace(valid, "argon2id", "argon2i", 1), strings.Replace(valid, "v=19", "v=16", 1),
		strings.Replace(valid, "t=1", "t=0", 1), strings.Replace(valid, "p=1", "p=0", 1), strings.Replace(valid, "m=8", "m=x", 1),
	} {
		if ok, err := verifyPassword(right, bad); ok || err == nil {
			t.Errorf("verifyPassword of %q = %v, %v, want an error", bad, ok, err)
		}
	}
}

func TestCheckPassword(t *testing.T) {
	for password, ok := range map[string]bool{
		"123456789": false, "1234567890": true, "äöüäöüäöüä": true, "äöüäö": false,
		strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false, "1234567890\xff": false,
	} {
		err := CheckPassword(password)
		if ok != (err == nil) || !ok && pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
			t.Errorf("CheckPassword(%.20q) = %v", password, err)
		}
	}
}

func TestH177HashesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := make(hashQueue, maxHashes)
		for range maxHashes {
			if err := q.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		err := q.enter(t.Context())
		if pdpp.CodeOf(err) != pdpp.CodeOverloaded || pdpp.CodeOf(err).Status() != 503 || time.Since(start) != hashWait {
			t.Errorf("a third hash: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := q.enter(ctx); err != context.Canceled {
			t.Errorf("a visitor who left: %v", err)
		}
		time.AfterFunc(time.Second, q.leave)
		if err := q.enter(t.Context()); err != nil {
			t.Errorf("after another hash ended: %v", err)
		}
	})
}

func TestH178FormTokens(t *testing.T) {
	w := newWorld(t)
	token := w.CSRF("cookie")
	other, err := New(Config{Key: bytes.Repeat([]byte{8}, 32)})
	w.check(err)
	for _, c := range []struct {
		what, secret, token string
		want                bool
	}{
		{"own", "cookie", token, true},
		{"another browser", "cookies", token, false},
		{"no token", "cookie", "", false},
		{"a part", "cookie", token[:len(token)-1], false},
		{"another instance", "cookie", other.CSRF("cookie"), false},
		{"no cookie", "", w.CSRF(""), false},
		{"the secret itself", "cookie", "cookie", false},
	} {
		if got := w.CheckCSRF(c.secret, c.token); got != c.want {
			t.Errorf("%s: CheckCSRF = %v", c.what, got)
		}
	}
	if strings.Contains(token, "cookie") || len(token) != 43 {
		t.Errorf("token %q", token)
	}
}
