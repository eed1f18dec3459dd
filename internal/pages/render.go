package pages

import (
	"bytes"
	"embed"
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
