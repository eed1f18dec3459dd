package signin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// TestH160NothingSecretIsStored uses every secret of this package, and looks for them in
// the files of the store and in the log.
func TestH160NothingSecretIsStored(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	firstRun := w.link(LinkFirstRun, time.Hour)
	first, err := w.FirstRun(ctx, firstRun, right, home)
	w.check(err)
	open := w.link(LinkSignIn, time.Hour)
	const typo = "my-password-typed-as-a-name"
	_, _, err = w.Password(ctx, typo, "another-secret-typed", home)
	w.wantCode("an unknown name", err, pdpp.CodeAuthentication)
	a, _ := w.register(first, "")
	const before = "the-cookie-before-sign-in-0123456789"
	byPasskey, _, err := w.passkeySignIn(a, before)
	w.check(err)
	_, err = w.BeginLogin(ctx, site, before, home)
	w.check(err)
	const next = "a-better-password-than-before"
	w.check(w.ChangePassword(ctx, w.session(first), right, next, home))
	secrets := []string{
		firstRun, open, first, byPasskey, right, next, typo, "another-secret-typed", before, w.CSRF(first), string(w.Key), string(w.csrfKey),
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	w.check(err)
	var dump []byte
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil {
			dump = append(dump, raw...)
		}
	}
	for _, must := range []string{"argon2id", "192.0.2.1", siteHost} { // the dump contains the rows at all
		if !bytes.Contains(dump, []byte(must)) {
			t.Fatalf("the files of the store do not contain %q", must)
		}
	}
	dump = append(dump, w.log.text.Bytes()...)
	for _, s := range secrets {
		for form, text := range forms(s) {
			if bytes.Contains(dump, text) {
				t.Errorf("secret %q is stored or logged (%s)", s, form)
			}
		}
	}
}

// forms returns the ways in which a secret might be stored.
func forms(s string) map[string][]byte {
	list := map[string][]byte{
		"itself": []byte(s), "in hexadecimal": []byte(hex.EncodeToString([]byte(s))),
		"in base64": []byte(base64.RawStdEncoding.EncodeToString([]byte(s))),
	}
	if raw, err := base64.RawURLEncoding.DecodeString(s); err == nil && len(raw) >= linkBytes {
		list["decoded"] = raw
		list["decoded, in hexadecimal"] = []byte(hex.EncodeToString(raw))
	}
	return list
}

func TestH188Reset(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	ctx := w.Context()
	other := w.addOwner("grace")
	w.setPassword(other, right)
	theirs, _, err := w.Password(ctx, "grace", right, home)
	w.check(err)
	cookies := []string{w.signIn(), w.signIn()}
	a, _ := w.register(cookies[0], "")
	link := w.link(LinkSignIn, time.Hour)
	w.guesses(10, home) // locked out
	const next = "the new password"
	_, err = Reset(ctx, w.Store, w.owner.ID, "short", false, w.Clock())
	w.wantCode("a short password", err, pdpp.CodeInvalidInput)
	w.session(cookies[0])
	r, err := Reset(ctx, w.Store, w.owner.ID, next, false, w.Clock())
	w.check(err)
	if r != (ResetResult{Sessions: 2, Passkeys: 1}) {
		t.Errorf("Reset = %+v", r)
	}
	for _, c := range cookies {
		_, err := w.Session(ctx, c)
		w.wantCode("a session from before", err, pdpp.CodeAuthentication)
	}
	w.session(theirs)
	_, _, err = w.UseLink(ctx, link, home)
	w.wantCode("a link from before", err, pdpp.CodeNotFound)
	_, _, err = w.Password(ctx, "ada", next, home)
	w.check(err)
	_, _, err = w.passkeySignIn(a, "before")
	w.check(err)
	r, err = Reset(ctx, w.Store, w.owner.ID, next, true, w.Clock())
	w.check(err)
	if r != (ResetResult{Sessions: 2, RemovedPasskeys: 1}) {
		t.Errorf("Reset with passkeys = %+v", r)
	}
	_, _, err = w.passkeySignIn(a, "before")
	w.wantCode("a removed passkey", err, pdpp.CodeAuthentication)
}

// TestH44AStoreThatFailsIsNotAWrongPassword shows that a failure of the store is neither
// "signed in" nor "wrong".
func TestH44AStoreThatFailsIsNotAWrongPassword(t *testing.T) {
	w, cookie := newPasskeyWorld(t)
	in, code := w.session(cookie), w.link(LinkSignIn, time.Hour)
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	for what, use := range map[string]func() error{
		"Password":   func() error { _, _, err := w.Password(ctx, "ada", right, home); return err },
		"Session":    func() error { _, err := w.Session(ctx, cookie); return err },
		"Sessions":   func() error { _, err := w.Sessions(ctx, w.owner.ID); return err },
		"UseLink":    func() error { _, _, err := w.UseLink(ctx, code, home); return err },
		"Confirm":    func() error { return w.Confirm(ctx, in, right, home) },
		"Attempt":    func() error { return w.Attempt(ctx, UserCodes, "key") },
		"BeginLogin": func() error { _, err := w.BeginLogin(ctx, site, "before", home); return err },
		"CanSignIn":  func() error { _, err := w.CanSignIn(ctx, w.owner.ID); return err },
		"SignOut":    func() error { return w.SignOut(ctx, cookie) },
	} {
		if err := use(); err == nil || pdpp.CodeOf(err).Status() != 500 && pdpp.CodeOf(err).Status() != 503 {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.session(cookie)
}

// TestH177EntriesArePruned shows that what strangers cause to be stored is removed some day.
func TestH177EntriesArePruned(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	_, err := w.BeginLogin(w.Context(), site, "before", home)
	w.check(err)
	_, _, err = w.Password(w.Context(), "nobody", "a wrong password", home)
	w.wantCode("an unknown owner", err, pdpp.CodeAuthentication)
	w.wait(2 * time.Hour)
	w.update(func(tx store.Tx) error {
		n, err := tx.PruneEntries(w.Clock(), 100)
		if n != 5 { // the ceremony, its count of beginnings, the counts of the name, of the address, and of both
			t.Errorf("%d entries were pruned", n)
		}
		return err
	})
}
