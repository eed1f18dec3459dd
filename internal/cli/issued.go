package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"pdpp/internal/credential"
	"pdpp/internal/store"
)

// issued is a new grant or package with its token.
type issued interface {
	credential() *credential.Credential
	savedAs(file string)
	answer() any
	text() string
}

// issuedToken is the token of a new grant or package.
type issuedToken struct {
	token store.Token
	value string // the secret itself; "" when no token was created
	file  string // where the credential was saved; "" when it was not
	now   time.Time
}

func (i *issuedToken) savedAs(file string) { i.file = file }

// rows returns the token and the saved file as rows of a text answer.
func (i *issuedToken) rows() (rows [][]string) {
	if i.value != "" {
		rows = append(rows, []string{"token", i.value},
			[]string{"token ends", when(i.token.ExpiresAt, "")},
			[]string{"audience", strings.Join(i.token.Audience, ", ")})
	}
	if i.file != "" {
		rows = append(rows, []string{"saved in", i.file})
	}
	return rows
}

// notice says that the token is shown only once, and whether it ends before the grant or
// package that it belongs to, which ends at end, or never when end is zero.
func (i *issuedToken) notice(of string, end time.Time) string {
	text := "The token is shown only now."
	if end.IsZero() || i.token.ExpiresAt.Before(end) {
		text += " It ends on " + when(i.token.ExpiresAt, "") + ", before the " + of + "; --token-ttl makes it last longer."
	}
	return text
}

// issueFlags are the flags of commands that issue a token.
type issueFlags struct {
	TokenTTL string `name:"token-ttl" placeholder:"30d" help:"Lifetime of the token, at most 365d and never past the end of its grants."`
	Save     string `name:"save-credential" placeholder:"URL" help:"Also save the token as a credential for this server, ready for pdpp mcp; needs rest in the audience."`
	cacheFlag
	jsonFlag
}

// issueCredential creates a credential, saves it and prints it. The token is printed even
// when the file cannot be written: it is stored nowhere else.
func issueCredential[I issued](ctx context.Context, a *app, flags issueFlags, issue func(context.Context, session, time.Time) (I, error)) error {
	save, err := a.credentialSaver(flags.Save, flags.cacheFlag)
	if err != nil {
		return err
	}
	return a.withExistingOwner(ctx, func(s session) error {
		created, err := issue(ctx, s, a.Now())
		if err != nil {
			return a.withList(err, allGrants)
		}
		file, saveErr := save(ctx, created.credential())
		created.savedAs(file)
		saveErr = a.report(saveErr)
		if flags.JSON {
			return errors.Join(a.printJSON(created.answer()), saveErr)
		}
		text := created.text()
		if file != "" {
			text += a.next(setupFor(flags.Save, flags.CacheRoot))
		}
		return errors.Join(a.print(text), saveErr)
	})
}
