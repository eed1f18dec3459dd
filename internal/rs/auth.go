package rs

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

const maxToken = 512 // H-43

// bearer is a token as it came.
type bearer struct {
	token string
	hash  store.TokenHash
	key   pdpp.TokenID // tells bearers apart, known or not: it is the hash
}

func newBearer(token string) bearer {
	hash := store.HashToken(token)
	return bearer{token, hash, pdpp.TokenID(hash[:])}
}

// bearerOf reads the Authorization header (C-14, H-43).
func bearerOf(r *http.Request) (bearer, error) {
	headers := r.Header["Authorization"]
	if len(headers) > 1 {
		return bearer{}, pdpp.Errorf(pdpp.CodeInvalidRequest, "There is more than one Authorization header.")
	}
	if len(headers) == 0 {
		return bearer{}, noBearer()
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return bearer{}, noBearer()
	}
	token = strings.TrimSpace(token)
	if token == "" {
		return bearer{}, noBearer()
	}
	return newBearer(token), nil
}

func noBearer() error {
	return pdpp.Errorf(pdpp.CodeAuthentication, "A bearer token is required: Authorization: Bearer <token>.")
}

// badToken is the one answer to everything that is wrong with a token (C-17).
func badToken() error {
	return pdpp.Errorf(pdpp.CodeInvalidToken, "This token is unknown, expired or revoked.")
}

func validToken(s string) bool {
	if len(s) > maxToken {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._~+/=-", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// authenticate finds out who asks and judges token and grant, in the order of
// C-20.
func (s *Server) authenticate(v store.View, r *http.Request, who bearer, now time.Time) (store.Principal, error) {
	p, err := s.identify(v, r, who, now)
	if err != nil {
		return p, err
	}
	switch p.Kind {
	case pdpp.TokenOwner:
		return p, nil
	case pdpp.TokenClient:
		return p, checkGrant(p, now)
	case pdpp.TokenPackage:
		return p, &pdpp.Error{
			Code: pdpp.CodePermission, Message: "A package token is served at /mcp only.",
			NextStep: "Use it at /mcp, or ask the owner for a token of one grant.",
		}
	}
	return p, badToken()
}

// identify finds the token of a request. A bad bearer counts against the address it
// came from (H-68).
func (s *Server) identify(v store.View, r *http.Request, who bearer, now time.Time) (store.Principal, error) {
	p, err := s.known(v, who, now)
	switch {
	case err == nil:
		httpx.SetTokenID(r.Context(), p.ID)
	case pdpp.CodeOf(err) == pdpp.CodeInvalidToken:
		addr := s.Edge.ClientAddr(r)
		if blocked := s.throttle.Blocked(addr); blocked != nil {
			return p, blocked
		}
		s.throttle.Failed(addr)
	}
	return p, err
}

// known is what a bearer stands for.
func (s *Server) known(v store.View, who bearer, now time.Time) (store.Principal, error) {
	if !validToken(who.token) {
		return store.Principal{}, badToken()
	}
	return s.lookUp(v, who.hash, now)
}

func (s *Server) lookUp(v store.View, hash store.TokenHash, now time.Time) (store.Principal, error) {
	p, err := v.Token(hash)
	switch {
	case pdpp.CodeOf(err) == pdpp.CodeNotFound:
		return p, badToken()
	case err != nil:
		return p, &pdpp.Error{
			Code: pdpp.CodeUnavailable, RetryAfter: 1, Op: "token look-up", Err: err,
			Message: "The token could not be checked; try again.",
		}
	case !p.Live(now):
		return p, badToken()
	}
	return p, nil
}

// checkGrant judges the grant behind a live client token (C-18) and its audience
// (H-52): every audience opens the read routes, and there are no others yet.
func checkGrant(p store.Principal, now time.Time) error {
	if err := checkState(p, now); err != nil {
		return err
	}
	known := func(a string) bool { return a == "rest" || a == "mcp" || a == "mcp-developer" }
	if !slices.ContainsFunc(p.Audience, known) {
		return pdpp.Errorf(pdpp.CodeInsufficientScope, "This token was not issued for this resource.")
	}
	return nil
}

// checkState judges the grant behind a live client token (C-18).
func checkState(p store.Principal, now time.Time) error {
	if p.Grant == nil {
		return stateError(pdpp.CodeGrantInvalid)
	}
	return statusError(p.Grant.Status(now))
}

// checkLife judges what stands behind a live token, a grant or a package (H-49).
func checkLife(p store.Principal, now time.Time) error {
	if p.Kind != pdpp.TokenPackage {
		return checkState(p, now)
	}
	if p.Package == nil {
		return stateError(pdpp.CodeGrantInvalid)
	}
	return statusError(p.Package.Status(now))
}

func statusError(s pdpp.GrantStatus) error {
	switch s {
	case pdpp.GrantRevoked:
		return stateError(pdpp.CodeGrantRevoked)
	case pdpp.GrantExpired:
		return stateError(pdpp.CodeGrantExpired)
	}
	return nil
}

// stateError says what is wrong with a grant.
func stateError(code pdpp.Code) error {
	switch code {
	case pdpp.CodeGrantRevoked:
		return &pdpp.Error{Code: code, Message: "The owner has withdrawn this grant.", NextStep: "Ask the owner for a new grant."}
	case pdpp.CodeGrantExpired:
		return pdpp.Errorf(code, "This grant has expired. Ask the owner for a new one.")
	}
	return pdpp.Errorf(pdpp.CodeGrantInvalid, "The grant of this token cannot be interpreted.")
}

// reach gives what a principal can read, computed once per grant and generation.
func (s *Server) reach(v store.View, p store.Principal) (*knownReach, error) {
	isOwner := p.Kind == pdpp.TokenOwner // who has no grant is not an owner for that
	if !isOwner && p.Grant == nil {
		return nil, stateError(pdpp.CodeGrantInvalid)
	}
	var key string
	if isOwner {
		key = "owner " + string(p.Subject)
	} else {
		key = string(p.Grant.ID)
	}
	if known := s.reaches.get(key, p.Generation); known != nil {
		return known, nil
	}
	catalog, err := v.Catalog(p.Subject)
	if err != nil {
		return nil, err
	}
	known := &knownReach{generation: catalog.Generation}
	if isOwner {
		known.reach = grant.ForOwner(p.Subject, catalog)
	} else {
		stored, err := v.Grant(p.Subject, p.Grant.ID)
		if err != nil {
			return nil, err
		}
		g, err := grant.ParseDocument(stored.Document, stored.ConnectorKey)
		if err != nil {
			return nil, err
		}
		if g.SubjectID != p.Subject || g.ID != p.Grant.ID { // the token decides whose data it is (C-15)
			return nil, pdpp.Errorf(pdpp.CodeGrantInvalid, "The grant of this token cannot be interpreted.")
		}
		known.reach = grant.ForClient(g, catalog)
	}
	s.reaches.put(key, known)
	return known, nil
}

// knownReach is a computed reach with what follows from it alone.
type knownReach struct {
	generation int64
	reach      *grant.Reach
	made       sync.Map // what follows from the reach alone
}

// once gives what was made for a key, making it the first time.
func (k *knownReach) once(key any, make func() any) any {
	if found, ok := k.made.Load(key); ok {
		return found
	}
	made := make()
	k.made.Store(key, made)
	return made
}

// reachCache keeps computed reaches. An entry counts only for the generation it
// was computed at, so a changed manifest or label is seen by the next request.
type reachCache struct {
	mu      sync.Mutex
	entries map[string]*knownReach
}

const maxReaches = 1024

func (c *reachCache) get(key string, generation int64) *knownReach {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil && e.generation == generation {
		return e
	}
	return nil
}

func (c *reachCache) put(key string, known *knownReach) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= maxReaches {
		c.entries = make(map[string]*knownReach)
	}
	c.entries[key] = known
}
