package signin

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// guesses tries wrong passwords and returns how many were checked, and the last error.
func (w *world) guesses(n int, v Visitor) (checked int, last error) {
	for range n {
		_, _, last = w.Password(w.Context(), "ada", "a wrong password", v)
		if pdpp.CodeOf(last) == pdpp.CodeAuthentication {
			checked++
		}
	}
	return checked, last
}

func retryAfter(err error) time.Duration {
	e, ok := err.(*pdpp.Error)
	if !ok {
		return 0
	}
	return time.Duration(e.RetryAfter) * time.Second
}

func TestH177WaitsOfAnAddress(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	checked, err := w.guesses(6, home)
	w.wantCode("the sixth guess", err, pdpp.CodeRateLimited)
	if checked != 5 || retryAfter(err) != 30*time.Second {
		t.Fatalf("%d guesses checked, then wait %v", checked, retryAfter(err))
	}
	_, _, err = w.Password(w.Context(), "ada", right, home)
	w.wantCode("the right password during the wait", err, pdpp.CodeRateLimited)
	_, _, err = w.Password(w.Context(), "ada", "a wrong password", from("192.0.2.2"))
	w.wantCode("another address", err, pdpp.CodeAuthentication)
	for _, next := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
		w.wait(retryAfter(err) + 15*time.Minute - time.Second) // not yet forgotten
		if next == time.Minute {
			w.wait(30 * time.Second)
		}
		if checked, err = w.guesses(2, home); checked != 1 || retryAfter(err) != next {
			t.Errorf("%d guesses checked, then wait %v, want %v", checked, retryAfter(err), next)
		}
	}
	w.wait(30 * time.Minute)
	if checked, err = w.guesses(6, home); checked != 5 {
		t.Errorf("after 15 quiet minutes %d guesses were checked (%v)", checked, err)
	}
}

func TestH177SuccessClearsAndCounts(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	w.guesses(4, home)
	w.guesses(3, from("198.51.100.7"))
	cookie, failures, err := w.Password(w.Context(), "ada", right, home)
	w.check(err)
	if cookie == "" || failures != 7 {
		t.Errorf("%d failures since the last sign-in, want 7", failures)
	}
	if checked, _ := w.guesses(4, home); checked != 4 {
		t.Errorf("%d guesses checked after a success", checked)
	}
	_, failures, err = w.Password(w.Context(), "", right, home)
	w.check(err)
	if failures != 4 {
		t.Errorf("%d failures since the last sign-in, want 4", failures)
	}
	if _, failures, _ = w.Password(w.Context(), "ada", right, home); failures != 0 {
		t.Errorf("%d failures since the last sign-in, want 0", failures)
	}
}

func TestH177BruteForceFromManyAddresses(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	w.signIn() // home is known from now on
	w.wait(29 * 24 * time.Hour)
	tried := 0
	for i := range 100 {
		n, _ := w.guesses(1, from(fmt.Sprintf("203.0.113.%d", i)))
		tried += n
	}
	if tried != ownerFailures {
		t.Errorf("%d guesses of 100 addresses were checked, want %d", tried, ownerFailures)
	}
	_, _, err := w.Password(w.Context(), "ada", right, from("198.51.100.1"))
	w.wantCode("an unknown address", err, pdpp.CodeRateLimited)
	if wait := retryAfter(err); wait != time.Hour {
		t.Errorf("wait %v", wait)
	}
	if _, failures, err := w.Password(w.Context(), "ada", right, home); err != nil || failures != ownerFailures {
		t.Errorf("the owner at home: %v, %d failures", err, failures)
	}
	w.wait(time.Hour)
	if _, _, err := w.Password(w.Context(), "ada", right, from("198.51.100.1")); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

func TestH177ManyNamesFromOneAddress(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	checked := 0
	for i := range 100 {
		_, _, err := w.Password(w.Context(), fmt.Sprint("name ", i), "a wrong password", home)
		if err == errWrong {
			checked++
		} else {
			w.wantCode("one name too many", err, pdpp.CodeRateLimited)
		}
	}
	if checked != guessesOfAddress.Max {
		t.Errorf("%d guesses were checked", checked)
	}
	if _, _, err := w.Password(w.Context(), "ada", right, from("192.0.2.2")); err != nil {
		t.Errorf("the owner at another address: %v", err)
	}
	w.wait(guessesOfAddress.Window)
	for range 2 * guessesOfAddress.Max { // what succeeds does not count
		w.signIn()
	}
}

func TestH177KnownAddressEndsAfter30Days(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	w.signIn()
	w.wait(knownFor)
	for i := range ownerFailures {
		w.guesses(1, from(fmt.Sprintf("203.0.113.%d", i)))
	}
	_, _, err := w.Password(w.Context(), "ada", right, home)
	w.wantCode("an address that was known", err, pdpp.CodeRateLimited)
}

func TestH177IPv6CountsByNetwork(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	checked := 0
	for i := range 10 {
		n, _ := w.guesses(1, from(fmt.Sprintf("2001:db8::%x", i)))
		checked += n
	}
	if checked != freeFailures {
		t.Errorf("%d guesses of one network were checked", checked)
	}
	if n, err := w.guesses(1, from("2001:db8:0:1::1")); n != 1 {
		t.Errorf("another network: %v", err)
	}
}

func TestH177ParallelGuesses(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() { _, _, errs[i] = w.Password(w.Context(), "ada", "a wrong password", home) })
	}
	wg.Wait()
	count := map[pdpp.Code]int{}
	for _, err := range errs {
		count[pdpp.CodeOf(err)]++
	}
	if count[pdpp.CodeAuthentication] != freeFailures || count[pdpp.CodeRateLimited] != 15 {
		t.Errorf("20 guesses at once: %v", count)
	}
}

func TestH177UnknownOwnerLooksLikeAWrongPassword(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	w.addOwner("grace") // without a password
	for _, name := range []string{"ada", "grace", "nobody", ""} {
		for i := range freeFailures {
			_, _, err := w.Password(w.Context(), name, "a wrong password", home)
			if err != errWrong {
				t.Errorf("guess %d of %q: %v, want %v", i, name, err, errWrong)
			}
		}
		_, _, err := w.Password(w.Context(), name, "a wrong password", home)
		if pdpp.CodeOf(err) != pdpp.CodeRateLimited || retryAfter(err) != firstWait {
			t.Errorf("the next guess of %q: %v", name, err)
		}
	}
	_, _, err := w.Password(w.Context(), "grace", "no password at all", from("192.0.2.9"))
	if err != errWrong {
		t.Errorf("the password of the hash that nobody has: %v", err)
	}
}

func TestH177PasswordChangedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.owner, right)
	g := guesserOf(w.owner.ID, "", home)
	hash, err := w.guess(w.Context(), g, right)
	w.check(err)
	w.setPassword(w.owner, "another password")
	err = w.Store.Update(w.Context(), func(tx store.Tx) error { return w.confirmGuess(tx, g, hash) })
	if err != errWrong {
		t.Errorf("a password that was changed during the check: %v", err)
	}
}

func TestH157UserCodesAreLimited(t *testing.T) {
	w := newWorld(t)
	ctx := w.Context()
	keys := []string{"ses_1", AddressKey(home.Address)}
	for range UserCodes.Max {
		w.check(w.Attempt(ctx, UserCodes, keys...))
	}
	err := w.Attempt(ctx, UserCodes, keys...)
	w.wantCode("the eleventh", err, pdpp.CodeRateLimited)
	if retryAfter(err) != 15*time.Minute {
		t.Errorf("wait %v", retryAfter(err))
	}
	w.wantCode("another session of the address", w.Attempt(ctx, UserCodes, "ses_2", keys[1]), pdpp.CodeRateLimited)
	w.wantCode("another address of the session", w.Attempt(ctx, UserCodes, keys[0], "address 192.0.2.77"), pdpp.CodeRateLimited)
	w.check(w.Attempt(ctx, Limit{"other", 1, time.Minute}, keys...))
	w.check(w.Forgive(ctx, UserCodes, keys...))
	w.check(w.Attempt(ctx, UserCodes, keys...))
	w.wantCode("after one was forgiven and used", w.Attempt(ctx, UserCodes, keys...), pdpp.CodeRateLimited)
	w.wait(15 * time.Minute)
	w.check(w.Attempt(ctx, UserCodes, keys...))
	// What a refused attempt did not count is not forgiven either.
	w.check(w.Forgive(ctx, UserCodes, "ses_9"))
}
