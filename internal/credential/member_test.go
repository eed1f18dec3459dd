package credential

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

const (
	mailDetail = `{"grant_id":"grt_1","source":{"connector_key":"mail"},"streams":[
		{"name":"messages","instance_ids":["cin_1"]},{"name":"threads","instance_ids":["cin_1"]}]}`
	bankDetail = `{"grant_id":"grt_2","source":{"connector_key":"bank"},"streams":[{"name":"entries","instance_ids":["cin_2"]}]}`
)

// packageOf returns a package with two members, in reverse order of their details.
func packageOf(id string) *Credential {
	cred := sample(id)
	cred.Kind, cred.Token, cred.ExpiresAt = string(pdpp.TokenPackage), "pdpp_pt_"+id, noon.Add(time.Hour)
	cred.Details = json.RawMessage("[" + mailDetail + "," + bankDetail + "]")
	cred.Members = []MemberToken{
		{GrantID: "grt_2", Token: "pdpp_at_two", ExpiresAt: noon.Add(time.Hour)},
		{GrantID: "grt_1", Token: "pdpp_at_one", ExpiresAt: noon.Add(time.Minute), DisplayName: "Work"},
	}
	return cred
}

func TestPackageMembers(t *testing.T) {
	c, _ := open(t)
	saved := put(t, c, packageOf("gpkg_1"))
	cred, err := c.Choose(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []Member{
		{MemberToken: saved.Members[0], Connection: "cin_2", ConnectorKey: "bank", Streams: []string{"entries"}},
		{MemberToken: saved.Members[1], Connection: "cin_1", ConnectorKey: "mail", Streams: []string{"messages", "threads"}},
	}
	got := cred.PackageMembers()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("H-186 members (-want +got):\n%s", diff)
	}
	end := noon.Add(time.Minute)
	if got[1].Expired(end.Add(-1)) || !got[1].Expired(end) || got[0].Expired(end) || new(Member).Expired(end) {
		t.Error("H-186 Expired does not use the expiry of the member")
	}
	if diff := cmp.Diff([]string{"mail", "bank"}, cred.Sources()); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	cred.Details = json.RawMessage("[" + mailDetail + "," + mailDetail + "]")
	if diff := cmp.Diff([]string{"mail"}, cred.Sources()); diff != "" {
		t.Errorf("sources of two accounts (-want +got):\n%s", diff)
	}
}

// A package is rejected when the file has incomplete facts about a member.
func TestIncompletePackages(t *testing.T) {
	details := func(list ...string) func(*Credential) {
		return func(c *Credential) { c.Details = json.RawMessage("[" + strings.Join(list, ",") + "]") }
	}
	for name, change := range map[string]func(*Credential){
		"no members":             func(c *Credential) { c.Members = nil },
		"a member without token": func(c *Credential) { c.Members[1].Token = "" },
		"a member without grant": func(c *Credential) { c.Members[1].GrantID = "" },
		"a member twice":         func(c *Credential) { c.Members[1].GrantID = "grt_2" },
		"no details":             func(c *Credential) { c.Details = nil },
		"invalid details":        func(c *Credential) { c.Details = json.RawMessage(`{"grant_id":"grt_1"}`) },
		"no detail of a member":  details(mailDetail),
		"no connection":          details(mailDetail, strings.Replace(bankDetail, `"cin_2"`, ``, 1)),
		"an empty connection":    details(mailDetail, strings.Replace(bankDetail, `cin_2`, ``, 1)),
		"no streams":             details(mailDetail, `{"grant_id":"grt_2","streams":[]}`),
		"two connections":        details(mailDetail, strings.Replace(bankDetail, `"cin_2"`, `"cin_2","cin_3"`, 1)),
		"streams of two":         details(strings.Replace(mailDetail, `cin_1`, `cin_3`, 1), bankDetail),
		"a connection twice":     details(mailDetail, strings.Replace(bankDetail, `cin_2`, `cin_1`, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := open(t)
			cred := packageOf("gpkg_1")
			change(cred)
			writeFile(t, c, "gpkg_1.json", string(cred.bytes(noon)))
			_, err := c.Choose(provider, "")
			wantCode(t, name, err, pdpp.CodeCredentialInvalid)
		})
	}
}

// The holder returns a package, another one after a rejected read, and none after it has
// expired.
func TestHolderPackage(t *testing.T) {
	c, _ := open(t)
	now := noon
	c.Now = func() time.Time { return now }
	put(t, c, packageOf("gpkg_1"))
	h, err := c.Hold(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	held := func() string {
		cred, ok := h.Package(t.Context())
		if !ok {
			return ""
		}
		return cred.ID
	}
	if got := held(); got != "gpkg_1" {
		t.Errorf("held %q", got)
	}
	if token, err := h.Token(t.Context()); token != "pdpp_pt_gpkg_1" || err != nil {
		t.Errorf("token %q, %v", token, err)
	}
	next := packageOf("gpkg_2")
	next.CreatedAt, next.ExpiresAt = noon, noon.Add(2*time.Hour)
	put(t, c, next)
	if got := held(); got != "gpkg_1" {
		t.Errorf("MS-267 without a rejected read: %q", got)
	}
	h.Recheck(t.Context())
	if got := held(); got != "gpkg_2" {
		t.Errorf("MS-267 after a rejected read: %q", got)
	}
	grant := sample("grt_9")
	grant.CreatedAt = noon.Add(time.Second)
	put(t, c, grant)
	now = next.ExpiresAt
	if got := held(); got != "" {
		t.Errorf("MS-267 after the expiry of the package: %q", got)
	}
	if token, err := h.Token(t.Context()); token != "pdpp_at_grt_9" || err != nil {
		t.Errorf("MS-267 the next credential: %q, %v", token, err)
	}
}

func TestExpiredPackage(t *testing.T) {
	c, _ := open(t)
	now := noon
	c.Now = func() time.Time { return now }
	cred := put(t, c, packageOf("gpkg_1"))
	h, err := c.Hold(provider, "")
	if err != nil {
		t.Fatal(err)
	}
	now = cred.ExpiresAt
	if _, ok := h.Package(t.Context()); ok {
		t.Error("MS-265 the expired package is returned")
	}
	_, err = h.Token(t.Context())
	wantCode(t, "MS-265 its token", err, pdpp.CodeCredentialExpired)
	_, err = c.Hold(provider, "")
	wantCode(t, "MS-265 a new start", err, pdpp.CodeCredentialExpired)
}
