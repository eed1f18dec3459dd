package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/oauth"
	"pdpp/internal/secret"
)

// connectCommand is `pdpp connect` (H-200).
type connectCommand struct {
	Provider  string   `arg:"" name:"provider-url" help:"Server to connect, such as https://data.example."`
	Device    bool     `help:"Approve with a code on any device, not in a browser on this machine."`
	Source    []string `placeholder:"KEY" help:"Ask for all data of this source; repeatable (default: the owner chooses)."`
	Name      string   `placeholder:"TEXT" help:"Name that the owner sees (default: PDPP CLI and the name of this machine)."`
	NoBrowser bool     `help:"Only print the address of the page for approval."`
	Timeout   string   `placeholder:"10m" help:"How long to wait for the approval."`
	cacheFlag
	jsonFlag
}

const (
	connectTimeout = 10 * time.Minute
	cliClient      = "pdpp_cli" // pre-registered at servers without registration (H-153)
	cliName        = "PDPP CLI"
	clientNameMax  = 100 // characters (H-152)
)

// connecting is one run of the command.
type connecting struct {
	*connectCommand
	app      *app
	cache    *credential.Cache
	provider string
	timeout  time.Duration
	oauth    *oauth.Client
	server   *oauth.Server
}

// Run implements the command. The token goes to the cache only.
func (c *connectCommand) Run(ctx context.Context, a *app) error {
	in, err := c.start(a)
	if err != nil {
		return err
	}
	cred, err := in.approved(ctx)
	if err != nil {
		return err
	}
	if err := in.verify(ctx, cred); err != nil {
		return err
	}
	if err := in.cache.Put(ctx, cred); err != nil {
		return recoded(err, pdpp.CodeCannotCreate, pdpp.CodeCacheWrite)
	}
	if c.JSON {
		return a.printJSON(newConnectAnswer(cred))
	}
	return a.print(connectText(cred) + a.next(setupFor(in.provider, c.CacheRoot)))
}

// recoded returns an error with another code in place of from.
func recoded(err error, from, to pdpp.Code) error {
	var e *pdpp.Error
	if !errors.As(err, &e) || e.Code != from {
		return err
	}
	other := *e
	other.Code = to
	return &other
}

// start checks the command line. The address of the tools means their server.
func (c *connectCommand) start(a *app) (*connecting, error) {
	provider, cache, err := a.cacheFor(strings.TrimSuffix(strings.TrimRight(c.Provider, "/"), "/mcp"), c.cacheFlag)
	if err != nil {
		return nil, recoded(err, pdpp.CodeUsage, pdpp.CodeProviderURL)
	}
	timeout, err := lifetime("--timeout", c.Timeout, connectTimeout)
	if err != nil {
		return nil, err
	}
	if c.Name = strings.TrimSpace(c.Name); c.Name == "" {
		c.Name = clientName(os.Hostname())
	}
	if utf8.RuneCountInString(c.Name) > clientNameMax {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--name is too long: use at most %d characters.", clientNameMax)
	}
	return &connecting{
		connectCommand: c, app: a, cache: cache, provider: provider, timeout: timeout,
		oauth: &oauth.Client{UserAgent: "pdpp/" + readVersion().Version},
	}, nil
}

// clientName returns the name under which this program registers.
func clientName(host string, err error) string {
	if err != nil || host == "" || utf8.RuneCountInString(host) > clientNameMax-len(cliName)-3 {
		return cliName
	}
	return cliName + " (" + plain(host) + ")"
}

// approved obtains a credential with the owner's approval.
func (in *connecting) approved(ctx context.Context) (*credential.Credential, error) {
	timed, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	cred, err := in.obtain(timed)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &pdpp.Error{Code: pdpp.CodeApprovalExpired, Message: in.provider + " did not answer in time.", Hint: "Nothing was saved. Connect again."}
	}
	if pdpp.CodeOf(err) == pdpp.CodeConnectUnsupported {
		return nil, hinted(err, "With a token from its owner, run: "+importCommandFor(in.app.self(), in.provider, in.CacheRoot))
	}
	return cred, err
}

func (in *connecting) obtain(ctx context.Context) (cred *credential.Credential, err error) {
	if in.server, err = in.oauth.Discover(ctx, in.provider); err != nil {
		return nil, err
	}
	request := oauth.Request{Details: detailsFor(in.Source)}
	saved, err := in.cache.ClientOf(in.provider, in.server.Issuer, in.Name)
	if err != nil {
		return nil, err
	}
	var token *oauth.Token
	if request.ClientID = saved; saved != "" {
		token, err = in.token(ctx, request)
	}
	// The server may have forgotten the client since.
	if saved == "" || errors.Is(err, oauth.ErrUnknownClient) {
		if request.ClientID, err = in.register(ctx); err == nil {
			token, err = in.token(ctx, request)
		}
	}
	if err != nil {
		return nil, err
	}
	return in.credential(token, request.ClientID)
}

// register returns a new client, or the one that every server without registration may
// know.
func (in *connecting) register(ctx context.Context) (string, error) {
	if in.server.Registration == "" && slices.Contains(in.server.PreRegistered, cliClient) {
		return cliClient, nil
	}
	return in.oauth.Register(ctx, in.server, in.Name)
}

// token obtains a token in a browser or with a code for devices.
func (in *connecting) token(ctx context.Context, r oauth.Request) (*oauth.Token, error) {
	opener := browserCommand(in.app.Getenv)
	if in.Device || opener == nil && !in.NoBrowser && in.server.Device != "" {
		return in.oauth.AuthorizeDevice(ctx, in.server, r, in.showCode)
	}
	return in.oauth.Authorize(ctx, in.server, r, func(address string) {
		if in.NoBrowser || opener == nil || openBrowser(opener, address) != nil {
			in.app.note("To approve, open this page in a browser on this machine:")
		} else {
			in.app.note("To approve, use the page that your browser opens. If it opens none, open this one:")
		}
		in.app.note("\n    %s\n", plain(address))
		in.showWait()
	})
}

func (in *connecting) showCode(p oauth.Prompt) {
	in.app.note("To approve, open this page on any device, and enter the code %s:\n\n    %s\n", p.UserCode, plain(p.Address))
	if p.Complete != "" {
		in.app.note("With the code in the address:\n\n    %s\n", plain(p.Complete))
	}
	in.showWait()
}

func (in *connecting) showWait() {
	in.app.note("Waiting for the approval, for at most %s. Ctrl-C cancels.", cmp.Or(in.Timeout, "10m"))
}

// detailsFor returns the request for all streams of some sources; nil when there are none,
// so that the owner chooses (H-201).
func detailsFor(sources []string) json.RawMessage {
	var list []map[string]any
	for _, key := range sources {
		list = append(list, map[string]any{
			"type": "https://pdpp.dev/data-access", "source": map[string]string{"connector_key": key}, "streams": []map[string]string{{"name": "*"}},
		})
	}
	if list == nil {
		return nil
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings always encode
	}
	return raw
}

// credential returns the credential of a token response.
func (in *connecting) credential(t *oauth.Token, client string) (*credential.Credential, error) {
	cred, err := credential.FromJSON(t.Raw, in.app.Now())
	if err != nil {
		return nil, recoded(err, pdpp.CodeInvalidInput, pdpp.CodeTokenRequest)
	}
	cred.Provider, cred.Resource, cred.Issuer = in.provider, in.server.Resource, in.server.Issuer
	cred.TokenEndpoint, cred.RevocationEndpoint = in.server.Token, in.server.Revocation
	cred.ClientID, cred.ClientName = client, in.Name
	if !credential.ValidID(cred.ID) {
		cred.ID = secret.ID("connected_")[:len("connected_")+8]
	}
	return cred, nil
}

// verify verifies a new credential with one read: of a package, with the token of its first
// member.
func (in *connecting) verify(ctx context.Context, cred *credential.Credential) error {
	token := cred.Token
	if cred.IsPackage() {
		members := cred.PackageMembers()
		if len(members) == 0 || !in.server.CanExchange {
			return &pdpp.Error{
				Code: pdpp.CodePackageUnreadable, Message: in.provider + " returned a package of grants, but does not exchange its token for those of the grants.",
				Hint: "Nothing was saved. Name one source with --source KEY, or let the assistant use " + in.provider + "/mcp.",
			}
		}
		t, err := in.oauth.Exchange(ctx, cred.TokenEndpoint, cred.ClientID, cred.Token, members[0].GrantID)
		if err != nil {
			return &pdpp.Error{
				Code: pdpp.CodeTokenVerification, Message: "The token of a package was not exchanged: " + err.Error() + ".", Hint: "Nothing was saved. Connect again.",
			}
		}
		token = t.AccessToken
	}
	if credential.IsOwnerToken(token) {
		return in.app.errOwnerToken()
	}
	return in.app.verifyToken(ctx, in.provider, token)
}
