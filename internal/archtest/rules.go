package archtest

// pure packages decide and compute. Their input and output are bytes, values and times,
// so that tables and fuzzing can test them.
var pure = []string{
	"pdpp",
	"pdpp/internal/analyzer",
	"pdpp/internal/consent",
	"pdpp/internal/evidence",
	"pdpp/internal/grant",
	"pdpp/internal/handle",
	"pdpp/internal/manifest",
	"pdpp/internal/query",
	"pdpp/internal/rawjson",
	"pdpp/internal/schemadoc",
	"pdpp/internal/setup",
	"pdpp/internal/sortkey",
	"pdpp/internal/timebucket",
}

// edges use the outside world: commands, the network, the terminal.
var edges = []string{
	"pdpp/cmd/...",
	"pdpp/internal/as/...",
	"pdpp/internal/auth/...",
	"pdpp/internal/bench/...",
	"pdpp/internal/cli/...",
	"pdpp/internal/demo/...",
	"pdpp/internal/hosted/...",
	"pdpp/internal/httpx/...",
	"pdpp/internal/oauth",
	"pdpp/internal/outbound",
	"pdpp/internal/rs/...",
	"pdpp/internal/server/...",
	"pdpp/internal/telemetry/...",
}

// programs are where a process starts and ends.
var programs = []string{
	"pdpp/cmd/...",
	"pdpp/internal/cli/...",
	"pdpp/internal/bench/report",
	"pdpp/internal/bench/soak",
}

var allPackages = []string{"pdpp/..."}

// Rules are the import directions of this repository.
var Rules = []Rule{
	{
		Name:     "vocabulary",
		Packages: []string{"pdpp"},
		Only:     []string{"std"},
		Because:  "all packages use the root package and would depend on everything that it imports",
	},
	{
		Name:     "pure",
		Packages: pure,
		Never: append([]string{
			"net", "net/http/...", "database/sql/...", "os/...", "syscall/...", "log/...", "pdpp/internal/store/...",
		}, edges...),
		Deep:    true,
		Because: "decisions about what a caller may see must not depend on I/O; a pure package is tested with values alone",
	},
	{
		Name:     "store contract",
		Packages: []string{"pdpp/internal/store"},
		Only:     append([]string{"std"}, pure...),
		Never:    []string{"net/http/...", "database/sql/..."},
		Because:  "the store contract is in terms of records and queries, so that a second engine can implement it",
	},
	{
		Name:     "sql compiler",
		Packages: []string{"pdpp/internal/store/sqlgen/..."},
		Only:     append([]string{"std", "pdpp/internal/store", "pdpp/internal/store/sqlgen/..."}, pure...),
		Never:    []string{"net/http/...", "database/sql/...", "os/..."},
		Because:  "sqlgen turns a validated query into text and arguments; it runs nothing and depends on no engine",
	},
	{
		Name:     "sql reads",
		Packages: []string{"pdpp/internal/store/sqlread/..."},
		Only:     append([]string{"std", "pdpp/internal/store", "pdpp/internal/store/fold", "pdpp/internal/store/sqlgen"}, pure...),
		Never:    []string{"net/http/...", "database/sql/...", "os/..."},
		Because:  "every SQL store shares these reads; a database takes part through a Conn and a Dialect",
	},
	{
		Name:     "engines below",
		Packages: []string{"pdpp/internal/store/..."},
		Never:    append([]string{"net/http/..."}, edges...),
		Because:  "an engine implements the store contract and must not depend on callers and protocols",
	},
	{
		Name:     "engines apart",
		Packages: []string{"pdpp/internal/store/sqlite/..."},
		Tests:    true,
		Never:    []string{"pdpp/internal/store/postgres/..."},
		Because:  "what two engines share belongs in the contract, in sqlgen, sqlread or storetest",
	},
	{
		Name:     "contract suite",
		Packages: []string{"pdpp/internal/store/storetest/..."},
		Tests:    true,
		Never:    []string{"pdpp/internal/store/sqlite/...", "pdpp/internal/store/postgres/...", "pdpp/internal/store/sqlgen/...", "pdpp/internal/store/open", "pdpp/internal/rs/..."},
		Because:  "each engine runs the suite; a suite that depends on one engine proves nothing about another",
	},
	{
		Name:     "resource server",
		Packages: []string{"pdpp/internal/rs/..."},
		Never: []string{
			"pdpp/internal/store/sqlite/...", "pdpp/internal/store/postgres/...", "pdpp/internal/store/sqlgen/...", "pdpp/internal/store/open",
			"pdpp/internal/server/...", "pdpp/internal/cli/...",
		},
		Because: "handlers reach data through the store contract only, so that the grant is applied in storage (REC-30) whatever the engine",
	},
	{
		Name:     "authentication",
		Packages: []string{"pdpp/internal/auth"},
		Never: []string{
			"pdpp/internal/rs/...", "pdpp/internal/mcp...", "pdpp/internal/server/...", "pdpp/internal/store/sqlite/...", "pdpp/internal/store/postgres/...",
		},
		Because: "every resource of the server authenticates its requests in the same way; what it serves must not make a difference",
	},
	{
		Name:     "authorization server",
		Packages: []string{"pdpp/internal/as"},
		Never: []string{
			"pdpp/internal/rs/...", "pdpp/internal/mcp...", "pdpp/internal/server/...", "pdpp/internal/pages/...", "pdpp/internal/signin/...",
			"pdpp/internal/store/sqlite/...", "pdpp/internal/store/postgres/...", "html/template",
		},
		Because: "it decides on codes and tokens through the store contract; who has signed in, and what pages look like, it does not know",
	},
	{
		Name:     "composition",
		Packages: []string{"pdpp/internal/server/..."},
		Never:    []string{"pdpp/internal/store/sqlite/...", "pdpp/internal/store/postgres/...", "pdpp/internal/mcp..."},
		Because:  "the program passes the store and the MCP endpoint in; the tests of the tools serve /v1 without them",
	},
	{
		Name:     "mcp endpoint",
		Packages: []string{"pdpp/internal/mcphttp/..."},
		Never:    []string{"pdpp/internal/rs/...", "pdpp/internal/server/...", "pdpp/internal/store/..."},
		Because:  "the endpoint reads /v1 through the handler it is passed, with the rights of its caller (H-53)",
	},
	{
		Name:     "tools read like clients",
		Packages: []string{"pdpp/internal/mcp/...", "pdpp/internal/pkgreader/..."},
		Never:    []string{"pdpp/internal/store/...", "pdpp/internal/rs/..."},
		Because:  "every read of a tool is a grant-enforced /v1 read through rsclient (HOSTED-5)",
	},
	{
		Name:     "texts below tools",
		Packages: []string{"pdpp/internal/mcp/quote", "pdpp/internal/mcp/recordtext"},
		Only:     append([]string{"std", "pdpp/internal/mcp/limits", "pdpp/internal/mcp/quote"}, pure...),
		Never:    []string{"net/http/..."},
		Because:  "texts are rendered from values alone: what a tool, a call or a server is, the surface decides",
	},
	{
		Name:     "http edge",
		Packages: []string{"pdpp/internal/httpx/..."},
		Never:    []string{"pdpp/internal/store/...", "pdpp/internal/rs/...", "pdpp/internal/grant", "pdpp/internal/query"},
		Because:  "all routes share the middleware, which must not depend on tokens, grants or records",
	},
	{
		Name:     "demo data",
		Packages: []string{"pdpp/internal/demo/..."},
		Never:    []string{"pdpp/internal/store/...", "pdpp/internal/rs/...", "pdpp/internal/httpx/...", "net/http/..."},
		Because:  "the demo produces lines like any other source, and must be stored and served like any other",
	},
	{
		Name:     "top",
		Packages: allPackages,
		Except:   []string{"pdpp/cmd/...", "pdpp/internal/cli/..."},
		Never:    []string{"pdpp/internal/cli/...", "pdpp/cmd/..."},
		Because:  "only the program may depend on everything, and nothing may depend on the program",
	},
	{
		Name:     "sqlite home",
		Packages: allPackages,
		Except:   []string{"pdpp/internal/store/sqlite/..."},
		Tests:    true,
		Never:    []string{"modernc.org/..."},
		Because:  "one package uses the engine, so that its version and its C-like API concern no other",
	},
	{
		Name:     "no database/sql",
		Packages: allPackages,
		Tests:    true,
		Never:    []string{"database/sql/..."},
		Because:  "the store uses the engine directly (docs/decisions/0001); database/sql would bypass its connections and transactions",
	},
	{
		Name:     "no mcp sdk",
		Packages: allPackages,
		Except:   []string{"pdpp/internal/mcptest"},
		Never:    []string{"github.com/modelcontextprotocol/..."},
		Because:  "one path answers both transports (docs/decisions/0006); the SDK is the client and the reference of tests",
	},
	{
		Name:     "telemetry home",
		Packages: allPackages,
		Except:   []string{"pdpp/internal/telemetry/..."},
		Never:    []string{"github.com/prometheus/...", "go.opentelemetry.io/..."},
		Because:  "all metrics and traces go through one package, which keeps private text out of them",
	},
	{
		Name:     "command line home",
		Packages: allPackages,
		Except:   []string{"pdpp/cmd/pdpp/...", "pdpp/internal/cli/..."},
		Never:    []string{"github.com/alecthomas/kong/...", "golang.org/x/term/..."},
		Because:  "only the command line handles arguments and terminals; other packages take plain structs",
	},
	{
		Name:     "sign-in home",
		Packages: allPackages,
		Except:   []string{"pdpp/internal/signin"},
		Never:    []string{"github.com/go-webauthn/...", "golang.org/x/crypto/..."},
		Because:  "one package checks passwords and passkeys, so that a mistake with them can be only there",
	},
	{
		Name:     "sign-in below pages",
		Packages: []string{"pdpp/internal/signin"},
		Never:    []string{"net/http/...", "pdpp/internal/server/...", "pdpp/internal/rs/...", "pdpp/internal/store/sqlite/...", "pdpp/internal/store/postgres/..."},
		Because:  "sign-in is the same for every page and transport; cookies and forms are the pages' concern",
	},
	{
		Name:     "test libraries",
		Packages: allPackages,
		Except:   []string{"pdpp/internal/bench/..."},
		Never: []string{
			"testing/...", "net/http/httptest", "github.com/google/go-cmp/...", "github.com/rogpeppe/go-internal/...",
			"go.uber.org/goleak/...", "pgregory.net/rapid/...", "pdpp/internal/...test",
		},
		Because: "test libraries are not part of the program",
	},
	{
		Name:     "no cgo",
		Packages: allPackages,
		Tests:    true,
		Never:    []string{"C"},
		Because:  "the binary is static and builds with the Go toolchain alone (H-1)",
	},
	{
		Name:     "settings",
		Packages: allPackages,
		Except:   programs,
		Never:    []string{"flag"},
		NeverUse: []string{
			"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.Setenv", "os.Args", "os.Exit", "os.User...Dir",
			"syscall.Getenv", "log.Fatal...",
		},
		Because: "only the program reads its environment and ends the process; other packages take settings as arguments, so that tests can set them",
	},
	{
		Name:     "clock",
		Packages: allPackages,
		// httpx sets deadlines of sockets, which use the wall clock.
		Except:   append([]string{"pdpp/internal/bench/...", "pdpp/internal/httpx"}, programs...),
		NeverUse: []string{"time.Now", "time.Since", "time.Until"},
		Because:  "the clock is injected: expiry, cursors and retention are tested at chosen times, without sleeping",
	},
}
