package rs

import (
	"net/http"

	"pdpp"
	"pdpp/internal/activity"
	"pdpp/internal/auth"
	"pdpp/internal/grant"
)

// countRead counts a read with a grant (H-196). What an owner reads with their own token
// is not counted.
func (q *request) countRead(who requester) {
	if q.reach.Owner {
		return
	}
	if q.http.Method == http.MethodHead { // returns no records
		q.tally = activity.Tally{Key: q.tally.Key}
	}
	q.nameTally()
	q.server.Auth.Activity.Read(who.call(), &q.tally, q.now)
}

// countRefusal counts a request with a grant that was refused after its token was
// authenticated. Package auth counts those that it refuses itself.
func (q *request) countRefusal(who requester, err error) {
	if q.reach == nil || q.reach.Owner || !auth.IsRefusal(err) {
		return
	}
	q.nameTally()
	q.server.Auth.Activity.Refuse(who.call(), q.tally.Key, pdpp.CodeOf(err), q.now)
}

// nameTally names the grant and the route of the request.
func (q *request) nameTally() {
	q.tally.Key.Subject, q.tally.Key.Grant, q.tally.Key.Via = q.reach.Subject, q.reach.GrantID, q.pattern
}

// asksFor notes the stream that the request asks for, by the name that the grant has for it.
func (q *request) asksFor(rows []grant.Row) {
	if len(rows) > 0 {
		q.tally.Key.Stream = rows[0].Stream.Name
	}
}

// takeRelated counts the related records of the record that was written last.
func (q *request) takeRelated() {
	if q.related != nil {
		q.tally.Merge(q.related)
	}
	q.related = nil
}

// call returns the tool call that the request is a part of; nil if there is none.
func (who requester) call() *activity.Call {
	if who.caller == nil {
		return nil
	}
	return &who.caller.Call
}
