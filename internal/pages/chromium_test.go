package pages_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pdpp/internal/npmtest"
)

// screenshots is the folder to which the browser tests write a picture of every page.
var screenshots = flag.String("screenshots", "", "folder for pictures of all pages")

// chromium starts a headless Chromium, in which tabs are opened. Without Chromium the test
// is skipped.
func chromium(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
	}
	for _, name := range []string{
		"disable-quic", "disable-dev-shm-usage", "disable-background-networking", "disable-component-update", "disable-sync", "no-proxy-server", "hide-scrollbars",
	} {
		options = append(options, chromedp.Flag(name, true))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}

// tab is a tab with its own cookies.
type tab struct {
	testing.TB
	root context.Context
	ctx  context.Context // ends some time after the page was opened
	base string

	mu       sync.Mutex
	problems []string // that the browser reported: blocked content, failed scripts
}

// patience turns a hang into a failure.
const patience = 2 * time.Minute

// open opens a tab for the server of a world. Its name is localhost, where browsers allow
// passkeys.
func (w *world) open(t testing.TB, chromium context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{TB: t, root: ctx, ctx: ctx, base: strings.Replace(w.URL, "127.0.0.1", "localhost", 1)}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	entries := chromedp.Events(ctx, log.EntryAdded)
	go func() {
		for e, err := range entries {
			if err != nil {
				return // the tab is closed
			}
			if e.Entry.Level != log.EntryLevelError || e.Entry.Source == log.EntrySourceNetwork { // such as the status of a refused form
				continue
			}
			b.mu.Lock()
			b.problems = append(b.problems, e.Entry.Text)
			b.mu.Unlock()
		}
	}()
	return b
}

// call sends a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	out, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatalf("%s: %v", command.Method, err)
	}
	return out
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// eval evaluates an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%.80s: %v", expression, err)
	}
	return out
}

func (b *tab) text() string     { return eval[string](b, `document.body ? document.body.innerText : ""`) }
func (b *tab) location() string { return eval[string](b, `location.href`) }

// visit opens a page.
func (b *tab) visit(path string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.root, patience)
	b.ctx = ctx
	b.Cleanup(func() { cancel(); b.ctx = b.root })
	b.do(chromedp.Navigate(b.base + path))
}

// wantText waits until the page says something.
func (b *tab) wantText(text string) {
	b.Helper()
	b.until("the page says "+text, func() bool { return strings.Contains(b.text(), text) })
}

// wantPath waits until the tab is at a path of the server.
func (b *tab) wantPath(path string) {
	b.Helper()
	b.until("the tab is at "+path, func() bool { return strings.TrimPrefix(b.location(), b.base) == path })
}

func (b *tab) until(what string, done func() bool) {
	b.Helper()
	for !done() {
		select {
		case <-b.ctx.Done():
			b.Fatalf("not before the time limit: %s", what)
		case <-time.After(20 * time.Millisecond): // a page is loading
		}
	}
}

// signIn opens a one-time link and presses its button, which has the focus.
func (b *tab) signIn(code string) {
	b.Helper()
	b.visit("/owner/link?code=" + code)
	b.press(kb.Enter)
	b.wantPath("/owner")
}

// press presses keys.
func (b *tab) press(keys string) { b.Helper(); b.do(chromedp.KeyEvent(keys)) }

// tabTo presses the tab key until an element has the focus, as somebody without a mouse does.
func (b *tab) tabTo(selector string) {
	b.Helper()
	quoted, err := json.Marshal(selector)
	if err != nil {
		b.Fatal(err)
	}
	for range 400 {
		if eval[bool](b, `document.activeElement !== null && document.activeElement.matches(`+string(quoted)+`)`) {
			return
		}
		b.press(kb.Tab)
	}
	b.Fatalf("the tab key does not reach %s at %s", selector, b.location())
}

// look sets the width of the window and the colours.
func (b *tab) look(width int64, scheme string) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// picture writes a picture of the whole page, if a folder is given.
func (b *tab) picture(dir, name string) {
	b.Helper()
	if dir == "" {
		return
	}
	// The window is as high as the page, so that what sticks to its end is there.
	width := eval[int64](b, `innerWidth`)
	b.do(chromedp.EmulateViewport(width, 400))
	b.do(chromedp.EmulateViewport(width, eval[int64](b, `document.documentElement.scrollHeight`)))
	b.capture(dir, name)
}

// capture writes a picture of what the window shows.
func (b *tab) capture(dir, name string) {
	b.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// noProblems fails the test if the browser has reported something.
func (b *tab) noProblems() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.Errorf("the browser reports: %s", p)
	}
	b.problems = nil
}

// axe returns the source of axe-core, which finds problems of accessibility.
func axe(t testing.TB) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(string(npmtest.Install(t)), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// accessible fails the test for every violation that axe-core finds in the page.
func (b *tab) accessible(axe string) {
	b.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[*struct{}](axe+`;null`)); err != nil && !strings.Contains(err.Error(), "null") {
		b.Fatal(err)
	}
	found := eval[string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r =>
		r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html.slice(0, 200) + " (" + n.failureSummary + ")").join("; ")).join("\n"))`)
	if found != "" {
		b.Errorf("%s: %s", b.location(), found)
	}
}
