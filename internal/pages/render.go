package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"pdpp/internal/consent"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// page is what layout.html and the template of a page are filled with.
type page struct {
	Title   string
	Section string // the part of the navigation that the page belongs to
	Narrow  bool   // a page with one small form
	Notice  string // what this request did; otherwise render shows the notice of the last one
	Faults  []consent.Fault
	Script  string // the URL of a script
	Body    any    // of the page's own template

	Provider, Base, Owner, CSRF, Stylesheet string // set by render
}

// Fault returns the fault of a form control, or nil.
func (p *page) Fault(control string) *consent.Fault {
	for i := range p.Faults {
		if p.Faults[i].Control == control {
			return &p.Faults[i]
		}
	}
	return nil
}

// templates are the pages by the name of their file without .html.
var templates = parseTemplates()

// shared are the templates that pages use besides their own.
var shared = []string{"templates/layout.html", "templates/chart.html"}

func parseTemplates() map[string]*template.Template {
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	layout := template.Must(template.New("layout.html").ParseFS(templateFiles, shared...))
	out := map[string]*template.Template{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		out[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, file))
	}
	return out
}

// render writes a page. It is rendered completely before the first byte is sent, so that
// a failure becomes an error page.
func (v *visit) render(status int, name string, p *page) error {
	p.Provider, p.Base, p.Stylesheet = v.pages.ProviderName, v.base, asset("style.css")
	if v.session != nil {
		p.Owner = v.session.Owner
	}
	if p.Notice == "" {
		p.Notice = v.takeNotice()
	}
	p.CSRF = v.csrf()
	var b bytes.Buffer
	if err := templates[name].ExecuteTemplate(&b, "layout.html", p); err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	v.w.WriteHeader(status)
	if v.r.Method == http.MethodHead {
		return nil
	}
	_, err := v.w.Write(b.Bytes())
	return err
}

// message is a page that says something, with a link to continue at.
type message struct {
	Text []string
	Link *link
}

type link struct{ URL, Text string }

// asset returns the URL of a static file. It contains a hash of the content, so that
// browsers may keep the file for ever.
func asset(name string) string { return "/static/" + name + "?v=" + assets[name].hash }

type staticFile struct {
	hash, kind string
	content    []byte
}

var assets = readAssets()

func readAssets() map[string]staticFile {
	out := map[string]staticFile{}
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		content, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err) // embedded
		}
		sum := sha256.Sum256(content)
		out[e.Name()] = staticFile{hash: hex.EncodeToString(sum[:6]), kind: kinds[path.Ext(e.Name())], content: content}
	}
	return out
}

// static serves the stylesheet and the scripts.
func static(v *visit) error {
	file, ok := assets[v.r.PathValue("file")]
	if !ok {
		return errNoPage
	}
	h := v.w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", strconv.Itoa(len(file.content)))
	if v.r.Method == http.MethodHead {
		return nil
	}
	_, err := v.w.Write(file.content)
	return err
}
