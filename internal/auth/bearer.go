package auth

import (
	"net/http"
	"strings"

	"pdpp"
	"pdpp/internal/store"
)

const maxToken = 512 // bytes of a token (H-43)

// Bearer is a token as the client sent it. It is not authenticated.
type Bearer struct {
	Key   pdpp.TokenID // the hash of the token, which identifies it whether or not it is valid
	token string
	hash  store.TokenHash
}

// ParseBearer reads the Authorization header (C-14, H-43).
func ParseBearer(h http.Header) (Bearer, error) {
	headers := h["Authorization"]
	switch len(headers) {
	case 0:
		return Bearer{}, errNoBearer
	case 1:
	default:
		return Bearer{}, pdpp.Errorf(pdpp.CodeInvalidRequest, "There is more than one Authorization header.")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "bearer") {
		return Bearer{}, errNoBearer
	}
	hash := store.HashToken(token)
	return Bearer{Key: pdpp.TokenID(hash[:]), token: token, hash: hash}, nil
}

// isWellFormed reports whether the token has only the characters of H-43.
func (b Bearer) isWellFormed() bool {
	if len(b.token) > maxToken {
		return false
	}
	for i := range len(b.token) {
		c := b.token[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._~+/=-", c) >= 0:
		default:
			return false
		}
	}
	return true
}
