package auth

import (
	"iter"
	"net/http"

	"pdpp"
	"pdpp/internal/activity"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// IsRefusal reports whether an error says that a token, or its rights, are not enough.
// Failures of the store and faults of the request are no refusals.
func IsRefusal(err error) bool { return isRefusal(pdpp.CodeOf(err)) }

func isRefusal(code pdpp.Code) bool {
	status := code.Status()
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// refuse records that a request with a valid token was refused (H-196, H-197).
func (a *Authenticator) refuse(r *http.Request, p store.Principal, res *Resource, err error) {
	a.refuseBearer(r, p, err)
	a.countRefusal(nil, p, res, err)
}

// refuseBearer records that the bearer of a request was refused (S21). p is what is known
// about it.
func (a *Authenticator) refuseBearer(r *http.Request, p store.Principal, err error) {
	if !IsRefusal(err) {
		return
	}
	row := store.Audit{
		At: a.Clock(), Subject: p.Subject, Token: p.ID, Code: pdpp.CodeOf(err),
		RequestID: httpx.RequestID(r.Context()), Address: a.Edge.ClientAddr(r).String(),
	}
	switch {
	case p.Package != nil:
		row.Client, row.Package = p.Package.Client, p.Package.ID
	case p.Grant != nil:
		row.Client, row.Grant = p.Grant.Client, p.Grant.ID
	}
	a.Activity.RefuseBearer(row)
}

// countRefusal counts a refusal for the grant of a valid token, or for its package. An
// owner is not told about requests of their own.
func (a *Authenticator) countRefusal(c *activity.Call, p store.Principal, res *Resource, err error) {
	if !IsRefusal(err) || p.Kind == pdpp.TokenOwner {
		return
	}
	key := store.ReadKey{Subject: p.Subject, Via: res.via}
	switch {
	case p.Grant != nil:
		key.Grant = p.Grant.ID
	case p.Package != nil:
		key.Package = p.Package.ID
	default: // the grant or package is missing; the audit row has the token
		return
	}
	a.Activity.Refuse(c, key, pdpp.CodeOf(err), a.Clock())
}

// BeginCall begins a tool call: the reads of /v1 with the grants of the identity are then
// counted as one read of the tool, for each grant.
func (id *Identity) BeginCall(tool string) {
	for c := range id.callers() {
		c.Call.Begin(tool)
	}
}

// EndCall ends the call and records what it has read. code is why the call failed; "" if it
// did not. A package that refuses a call itself, because none of its grants allows it,
// reads nothing: that is a refusal of the package.
func (a *Authenticator) EndCall(id *Identity, tool string, code pdpp.Code) {
	now, isCounted := a.Clock(), false
	for c := range id.callers() {
		isCounted = a.Activity.EndCall(&c.Call, now) || isCounted
	}
	if !isCounted && id.Package != nil && isRefusal(code) {
		a.Activity.Refuse(nil, store.ReadKey{Subject: id.Subject, Package: id.Package.ID, Via: tool}, code, now)
	}
}

// callers yields the callers of reads for this identity.
func (id *Identity) callers() iter.Seq[*Caller] {
	return func(yield func(*Caller) bool) {
		if id.Package == nil {
			yield(id.Caller)
			return
		}
		for i := range id.Members {
			if c := id.Members[i].Caller; c != nil && !yield(c) {
				return
			}
		}
	}
}
