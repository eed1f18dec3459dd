package pages_test

import (
	"net/http"
	"net/url"
	"testing"

	"pdpp/internal/rs/resttest"
)

func encode(name, value string) string { return url.Values{name: {value}}.Encode() }

// device starts the device flow and returns the client, the device code and the user code.
func (w *world) device() (client, device, user string) {
	w.T.Helper()
	a := w.Do("POST", "", "/oauth/register",
		`{"client_name":"Television","grant_types":["urn:ietf:params:oauth:grant-type:device_code","refresh_token"]}`, "Content-Type: application/json")
	client, _ = a.At("client_id").(string)
	v := url.Values{"client_id": {client}, "resource": {w.URL}}
	a = w.Do("POST", "", "/oauth/device_authorization", v.Encode(), "Content-Type: application/x-www-form-urlencoded")
	device, _ = a.OK().At("device_code").(string)
	user, _ = a.At("user_code").(string)
	return client, device, user
}

func (w *world) poll(client, device string) resttest.Answer {
	w.T.Helper()
	v := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {client}, "device_code": {device}}
	return w.Do("POST", "", "/oauth/token", v.Encode(), "Content-Type: application/x-www-form-urlencoded")
}

func TestH157Device(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client, device, code := w.device()
	b.get("/device?"+encode("user_code", code)).wants(200, "Connect a device").lacks("Television")
	if got := b.last.value("user_code"); got != code {
		t.Errorf("the page has the code %q, want %q", got, code)
	}
	b.submit("/device", "user_code", code).wants(200, "Is this yours?", "“Television”", "registered itself", "127.0.0.1", code)
	path := b.submit("/device/continue", "user_code", code).location().String()
	b.get(path).wants(200, "“Television” wants to read your data", "The device that shows "+code)
	b.choose(path, "stream", "3", "duration", "7d")
	b.approve(path).wants(200, "You can close this page", "Go back to your device")
	a := w.poll(client, device)
	token, _ := a.OK().At("access_token").(string)
	if !w.isLive(token) {
		t.Error("the device got no token that works")
	}
	b.get(path).wants(200, "You have already approved this request")
}

func TestH157DenyADevice(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client, device, code := w.device()
	b.get("/device")
	path := b.submit("/device/continue", "user_code", code).location().String()
	b.get(path)
	b.submit(path+"/deny").wants(200, "Denied. Nothing was shared.")
	if a := w.poll(client, device); a.At("error") != "access_denied" {
		t.Errorf("the device got %s", a.Body)
	}
}

// Wrong codes are limited on both forms: a session cannot guess at the second one instead.
func TestH157WrongCodesAreThrottled(t *testing.T) {
	for _, path := range []string{"/device", "/device/continue"} {
		t.Run(path, func(t *testing.T) {
			w := newWorld(t)
			b := w.signedIn(w.Subject)
			_, _, code := w.device()
			b.get("/device")
			for range 10 {
				if a := b.submit(path, "user_code", "BBBB-BBBB"); a.Status != http.StatusBadRequest && a.Status != http.StatusNotFound {
					t.Fatalf("a wrong code: %d %s", a.Status, a.text())
				}
			}
			for _, form := range []string{"/device", "/device/continue"} {
				if a := b.submit(form, "user_code", code).wants(http.StatusTooManyRequests); a.Header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			}
			// Another session at the same address is limited too.
			other := w.signedIn(w.Subject)
			other.get("/device")
			other.submit("/device", "user_code", code).wants(http.StatusTooManyRequests)
		})
	}
}

func TestH157RightCodesAreNotCounted(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	_, _, code := w.device()
	b.get("/device")
	for range 12 {
		b.submit("/device", "user_code", code).wants(200, "Is this yours?")
	}
}
