package cli

import (
	"context"
	"errors"
	"time"

	"pdpp/internal/credential"
)

// issued is a credential that was just made, for a grant or a package.
type issued interface {
	credential() *credential.Credential
	savedAs(file string)
	answer() any
	text() string
}

// handing is how a new credential is handed over.
type handing struct {
	provider string // that it is saved for; "" for nowhere
	cache    cacheFlag
	json     bool
}

// handOut makes a credential, saves it and shows it. The token is shown whatever becomes
// of the file: it is stored nowhere else.
func handOut[I issued](ctx context.Context, a *app, h handing, make func(context.Context, session, time.Time) (I, error)) error {
	save, err := a.saver(h.provider, h.cache)
	if err != nil {
		return err
	}
	return a.withKnownOwner(ctx, func(s session) error {
		made, err := make(ctx, s, a.Now())
		if err != nil {
			return err
		}
		file, unsaved := save(ctx, made.credential())
		made.savedAs(file)
		unsaved = a.tell(unsaved)
		if h.json {
			return errors.Join(a.printJSON(made.answer()), unsaved)
		}
		text := made.text()
		if file != "" {
			text += a.next(setupFor(h.provider, h.cache.CacheRoot))
		}
		return errors.Join(a.print(text), unsaved)
	})
}
