package signin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"pdpp/internal/secret"
)

// The flags of authenticator data (WebAuthn 6.1).
const (
	userPresent  = 1 << 0
	userVerified = 1 << 2
	canBackUp    = 1 << 3
	backedUp     = 1 << 4
	hasKey       = 1 << 6
)

// authenticator is a passkey in software. Its fields may be changed to make it misbehave.
type authenticator struct {
	*testing.T
	key    *ecdsa.PrivateKey
	id     []byte
	handle string // as the server sent it
	origin string // of the page that the browser shows
	rpID   string
	flags  byte
	count  uint32
}

func newAuthenticator(t *testing.T, origin, rpID string) *authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &authenticator{T: t, key: key, id: secret.Key(16), origin: origin, rpID: rpID, flags: userPresent | userVerified | canBackUp | backedUp}
}

// options are what a server asks of a browser.
type options struct {
	PublicKey struct {
		Challenge string `json:"challenge"`
		RPID      string `json:"rpId"`
		RP        struct{ ID, Name string }
		User      struct{ ID, Name string }
		Exclude   []struct {
			ID string `json:"id"`
		} `json:"excludeCredentials"`
		Allow     []any  `json:"allowCredentials"`
		Verify    string `json:"userVerification"`
		Selection struct {
			ResidentKey  string `json:"residentKey"`
			Verification string `json:"userVerification"`
		} `json:"authenticatorSelection"`
	} `json:"publicKey"`
}

func parseOptions(t *testing.T, raw []byte) (o options) {
	t.Helper()
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// create makes the credential that options ask for, and returns its JSON form.
func (a *authenticator) create(raw []byte) []byte {
	a.Helper()
	o := parseOptions(a.T, raw)
	a.handle = o.PublicKey.User.ID
	point, err := a.key.PublicKey.Bytes()
	a.must(err)
	cose, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	a.must(err)
	data := append(a.data(hasKey), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), cose...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	a.must(err)
	return a.credential(map[string]any{
		"clientDataJSON": b64(a.clientData("webauthn.create", o)), "attestationObject": b64(object), "transports": []string{"internal"},
	})
}

// get signs the challenge of options, and returns the assertion in its JSON form.
func (a *authenticator) get(raw []byte) []byte {
	a.Helper()
	client := a.clientData("webauthn.get", parseOptions(a.T, raw))
	if a.count > 0 {
		a.count++
	}
	data := a.data(0)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	a.must(err)
	return a.credential(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": a.handle,
	})
}

func (a *authenticator) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) data(more byte) []byte {
	hash := sha256.Sum256([]byte(a.rpID))
	return binary.BigEndian.AppendUint32(append(hash[:], a.flags|more), a.count)
}

func (a *authenticator) clientData(kind string, o options) []byte {
	raw, err := json.Marshal(map[string]any{"type": kind, "challenge": o.PublicKey.Challenge, "origin": a.origin, "crossOrigin": false})
	a.must(err)
	return raw
}

func (a *authenticator) credential(response map[string]any) []byte {
	raw, err := json.Marshal(map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}}, "response": response,
	})
	a.must(err)
	return raw
}
