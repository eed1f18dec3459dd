package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/store"
)

var packageTests = []test{
	{"create", testPackage},
	{"refused members", testRefusedMembers},
	{"number of members", testMemberCount},
	{"end", testPackageEnd},
	{"single use", testSingleUse},
	{"principal", testPackagePrincipal},
	{"revoked member", testRevokedMember},
	{"revocation", testPackageRevocation},
	{"touch", testPackageTouch},
	{"packages of others", testPackagesOfOthers},
}

func packageNo(w *world, id pdpp.PackageID, issued int) store.Package {
	return store.Package{ID: id, Subject: w.subject, Client: tally, IssuedAt: at(issued)}
}

// grantsOf stores grants without an end, of the client tally.
func (w *world) grantsOf(ids ...pdpp.GrantID) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		for _, id := range ids {
			if err := tx.CreateGrant(grantNo(w, id, 10)); err != nil {
				return err
			}
		}
		return nil
	})
}

func packageToken(w *world, id pdpp.TokenID, pack pdpp.PackageID) store.Token {
	return store.Token{
		ID: id, Kind: pdpp.TokenPackage, Subject: w.subject, Client: tally.ID, Package: pack, Audience: []string{"mcp"},
		IssuedAt: at(40), ExpiresAt: at(1000),
	}
}

// packageWorld returns a world with the package gpkg_1 of the grants grt_b and grt_a,
// in this order, with its token; and a grant that is in no package.
func packageWorld(t *testing.T, open Opener) *world {
	w := newWorld(t, open)
	w.update(func(tx store.Tx) error {
		labelled := pdpp.Connection{ID: connB, Connector: "ledger", Name: string(connB), Label: "Joint account", Status: "active", CreatedAt: at(0)}
		if err := tx.PutConnection(w.subject, labelled); err != nil {
			return err
		}
		return tx.CreateClient(w.subject, tally)
	})
	w.grantsOf("grt_a", "grt_b", "grt_free")
	w.update(func(tx store.Tx) error {
		_, err := tx.CreatePackage(packageNo(w, "gpkg_1", 40), []store.NewMember{{Grant: "grt_b", Connection: connB}, {Grant: "grt_a", Connection: connA}})
		if err != nil {
			return err
		}
		return tx.CreateToken(packageToken(w, "tok_pack", "gpkg_1"), store.HashToken("pack"))
	})
	return w
}

// create tries to create a package.
func (w *world) create(p store.Package, members ...store.NewMember) error {
	w.Helper()
	return w.store.Update(w.Context(), func(tx store.Tx) error {
		_, err := tx.CreatePackage(p, members)
		return err
	})
}

func (w *world) members(id pdpp.PackageID) (out []store.Member) {
	w.Helper()
	w.view(func(v store.View) (err error) {
		out, err = v.Members(w.subject, id)
		return err
	})
	return out
}

func testPackage(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	state := func(id pdpp.GrantID) *store.GrantState {
		return &store.GrantState{ID: id, ConnectorKey: "ledger", Client: tally.ID}
	}
	want := []store.Member{
		{GrantID: "grt_b", Connection: connB, DisplayName: "Joint account", Grant: state("grt_b")},
		{GrantID: "grt_a", Connection: connA, Grant: state("grt_a")},
	}
	if diff := cmp.Diff(want, w.members("gpkg_1")); diff != "" {
		t.Errorf("Members (-want +got):\n%s", diff)
	}
	if got := w.members("gpkg_9"); len(got) != 0 {
		t.Errorf("Members of an unknown package = %v", got)
	}
	w.grantsOf("grt_later")
	if err := w.create(packageNo(w, "gpkg_2", 50), store.NewMember{Grant: "grt_later", Connection: connA}); err != nil {
		t.Errorf("a connection in another package: %v", err)
	}
	w.view(func(v store.View) error {
		got, err := v.Packages(w.subject)
		if diff := cmp.Diff([]store.Package{packageNo(w, "gpkg_2", 50), packageNo(w, "gpkg_1", 40)}, got); err != nil || diff != "" {
			t.Errorf("Packages = %v (-want +got):\n%s", err, diff)
		}
		stored, err := v.Package(w.subject, "gpkg_1")
		if diff := cmp.Diff(packageNo(w, "gpkg_1", 40), stored); err != nil || diff != "" {
			t.Errorf("Package = %v (-want +got):\n%s", err, diff)
		}
		grants, err := v.Grants(w.subject, store.GrantFilter{})
		if err != nil {
			return err
		}
		in := map[pdpp.GrantID]pdpp.PackageID{}
		for _, g := range grants {
			in[g.ID] = g.Package
		}
		wantIn := map[pdpp.GrantID]pdpp.PackageID{"grt_a": "gpkg_1", "grt_b": "gpkg_1", "grt_free": "", "grt_later": "gpkg_2"}
		if diff := cmp.Diff(wantIn, in); diff != "" {
			t.Errorf("packages of the grants (-want +got):\n%s", diff)
		}
		one, err := v.Grant(w.subject, "grt_a")
		if one.Package != "gpkg_1" {
			t.Errorf("package of the grant = %q", one.Package)
		}
		return err
	})
}

// testRefusedMembers: grants that H-16 and H-82 refuse do not become a package.
func testRefusedMembers(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	bea := subjectIn(t, w.store, "bea")
	other := store.Client{ID: "cli_other", Name: "Other", RegistrationMode: "operator", CreatedAt: at(1)}
	foreign, ended, used, alien := grantNo(w, "grt_foreign", 10), grantNo(w, "grt_ended", 10), grantNo(w, "grt_used", 10), grantNo(bea, "grt_bea", 10)
	foreign.Client, ended.ExpiresAt, used.Consumed = other, at(50), true
	alien.Client = store.Client{ID: "cli_bea", Name: "Tally", RegistrationMode: "operator", CreatedAt: at(1)}
	w.grantsOf("grt_revoked", "grt_free2")
	w.update(func(tx store.Tx) error {
		if err := tx.CreateClient(w.subject, other); err != nil {
			return err
		}
		if err := tx.CreateClient(bea.subject, alien.Client); err != nil {
			return err
		}
		for _, g := range []store.Grant{foreign, ended, used, alien} {
			if err := tx.CreateGrant(g); err != nil {
				return err
			}
		}
		_, _, err := tx.RevokeGrant(w.subject, "grt_revoked", at(20))
		return err
	})
	for id, want := range map[pdpp.GrantID]pdpp.Code{
		"grt_none": pdpp.CodeNotFound, "grt_bea": pdpp.CodeNotFound, "grt_foreign": pdpp.CodeInvalidInput, "grt_ended": pdpp.CodeInvalidInput,
		"grt_used": pdpp.CodeInvalidInput, "grt_revoked": pdpp.CodeInvalidInput, "grt_a": pdpp.CodeInvalidInput,
	} {
		err := w.create(packageNo(w, "gpkg_2", 50), store.NewMember{Grant: "grt_free", Connection: connB}, store.NewMember{Grant: id, Connection: connA})
		if pdpp.CodeOf(err) != want {
			t.Errorf("with %s: %v, want %s", id, err, want)
		}
	}
	for _, id := range []pdpp.GrantID{"grt_free", "grt_free2"} {
		err := w.create(packageNo(w, "gpkg_2", 50), store.NewMember{Grant: "grt_free", Connection: connA}, store.NewMember{Grant: id, Connection: connA})
		if pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
			t.Errorf("a connection twice, by grt_free and %s: %v, want invalid_input", id, err)
		}
	}
	w.view(func(v store.View) error {
		got, err := v.Packages(w.subject)
		if len(got) != 1 {
			t.Errorf("packages after refusals: %v", got)
		}
		return err
	})
	if err := w.create(packageNo(w, "gpkg_2", 49), store.NewMember{Grant: "grt_free", Connection: connB}, store.NewMember{Grant: "grt_ended", Connection: connA}); err != nil {
		t.Errorf("a second before a grant's end: %v", err)
	}
}

func testMemberCount(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	var members []store.NewMember
	for i := range store.MaxMembers + 1 {
		m := store.NewMember{Grant: pdpp.GrantID(fmt.Sprintf("grt_%03d", 200-i)), Connection: pdpp.ConnectionID(fmt.Sprintf("cin_%03d", i))}
		w.grantsOf(m.Grant)
		members = append(members, m)
	}
	for _, wrong := range [][]store.NewMember{nil, members} {
		if err := w.create(packageNo(w, "gpkg_2", 50), wrong...); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
			t.Errorf("%d members: %v, want invalid_input", len(wrong), err)
		}
	}
	if err := w.create(packageNo(w, "gpkg_2", 50), members[:store.MaxMembers]...); err != nil {
		t.Fatalf("%d members: %v", store.MaxMembers, err)
	}
	got := w.members("gpkg_2")
	if len(got) != store.MaxMembers {
		t.Fatalf("%d members are stored", len(got))
	}
	for i, m := range got {
		if m.GrantID != members[i].Grant || m.Connection != members[i].Connection {
			t.Errorf("member %d = %s for %s, want %v", i, m.GrantID, m.Connection, members[i])
		}
	}
}

// testPackageEnd: a package ends with the last of its members.
func testPackageEnd(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	w.update(func(tx store.Tx) error {
		for id, end := range map[pdpp.GrantID]int{"grt_100": 100, "grt_200": 200, "grt_300": 300} {
			g := grantNo(w, id, 10)
			g.ExpiresAt = at(end)
			if err := tx.CreateGrant(g); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		first, second pdpp.GrantID
		want          time.Time
	}{
		{"grt_200", "grt_100", at(200)},
		{"grt_300", "grt_free", time.Time{}},
	} {
		p := packageNo(w, pdpp.PackageID("gpkg_"+c.first), 50)
		w.update(func(tx store.Tx) error {
			got, err := tx.CreatePackage(p, []store.NewMember{{Grant: c.first, Connection: connA}, {Grant: c.second, Connection: connB}})
			p.ExpiresAt = c.want
			if diff := cmp.Diff(p, got); err == nil && diff != "" {
				t.Errorf("package of %s and %s (-want +got):\n%s", c.first, c.second, diff)
			}
			return err
		})
	}
}

// testSingleUse: the token of a package uses up a grant for a single use.
func testSingleUse(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	w.grantsOf("grt_once")
	err := w.create(packageNo(w, "gpkg_2", 50), store.NewMember{Grant: "grt_once", Connection: connA, SingleUse: true}, store.NewMember{Grant: "grt_free", Connection: connB})
	if err != nil {
		t.Fatal(err)
	}
	for i, wantConsumed := range []bool{true, false} {
		m := w.members("gpkg_2")[i]
		if m.Grant.Consumed != wantConsumed || m.Fault(tally.ID, at(50)) != "" {
			t.Errorf("member %s: consumed %v, fault %q", m.GrantID, m.Grant.Consumed, m.Fault(tally.ID, at(50)))
		}
	}
}

func testPackagePrincipal(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	want := principalOf(packageToken(w, "tok_pack", "gpkg_1"), w.catalog().Generation)
	want.Package = &store.PackageState{ID: "gpkg_1", Client: tally.ID, IssuedAt: at(40)}
	w.view(func(v store.View) error {
		got, err := v.Token(store.HashToken("pack"))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("Token = %v (-want +got):\n%s", err, diff)
		}
		for _, id := range []pdpp.GrantID{"grt_a", ""} {
			if tokens, err := v.Tokens(w.subject, id); err != nil || len(tokens) != 0 {
				t.Errorf("the package's token is listed for the grant %q: %v, %v", id, tokens, err)
			}
		}
		return nil
	})
}

// testRevokedMember: the next read of the members returns the revocation (H-84).
func testRevokedMember(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	w.update(func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(w.subject, "grt_b", at(60))
		return err
	})
	for i, want := range []pdpp.Code{pdpp.CodeGrantRevoked, ""} {
		if got := w.members("gpkg_1")[i].Fault(tally.ID, at(60)); got != want {
			t.Errorf("fault of member %d = %q, want %q", i, got, want)
		}
	}
	w.view(func(v store.View) error {
		p, err := v.Token(store.HashToken("pack"))
		if err == nil && p.Package.Revoked {
			t.Error("the package is revoked with one member")
		}
		return err
	})
}

func testPackageRevocation(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	w.update(func(tx store.Tx) error {
		_, _, err := tx.RevokeGrant(w.subject, "grt_b", at(60))
		return err
	})
	for i, want := range [][]pdpp.GrantID{{"grt_a"}, nil} {
		w.update(func(tx store.Tx) error {
			p, grants, already, err := tx.RevokePackage(w.subject, "gpkg_1", at(70+i))
			if diff := cmp.Diff(want, grants); diff != "" || already != (i == 1) || !p.RevokedAt.Equal(at(70)) || p.ID != "gpkg_1" {
				t.Errorf("RevokePackage no. %d = %+v, already %v; grants (-want +got):\n%s", i+1, p, already, diff)
			}
			return err
		})
	}
	w.view(func(v store.View) error {
		for id, want := range map[pdpp.GrantID]time.Time{"grt_b": at(60), "grt_a": at(70), "grt_free": {}} {
			if g, err := v.Grant(w.subject, id); err != nil || !g.RevokedAt.Equal(want) {
				t.Errorf("grant %s was revoked at %v, want %v; %v", id, g.RevokedAt, want, err)
			}
		}
		// The token itself stays valid, so that its holder gets the reason (H-49).
		p, err := v.Token(store.HashToken("pack"))
		if err == nil && (!p.Live(at(71)) || !p.Package.Revoked) {
			t.Errorf("Token of a revoked package = %+v", p)
		}
		return err
	})
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		_, _, _, err := tx.RevokePackage(w.subject, "gpkg_9", at(0))
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("RevokePackage of an unknown id = %v, want not_found", err)
	}
}

// testPackageTouch: a read through a package is a use of the package and of the grant
// that authorized it.
func testPackageTouch(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	w.update(func(tx store.Tx) error {
		return tx.TouchTokens(map[store.Use]time.Time{{Token: "tok_pack"}: at(80), {Token: "tok_pack", Grant: "grt_a"}: at(75)})
	})
	w.view(func(v store.View) error {
		packages, err := v.Packages(w.subject)
		if err != nil || !packages[0].LastUsedAt.Equal(at(80)) {
			t.Errorf("touched package = %+v, %v", packages, err)
		}
		for id, want := range map[pdpp.GrantID]time.Time{"grt_a": at(75), "grt_b": {}} {
			if g, err := v.Grant(w.subject, id); err != nil || !g.LastUsedAt.Equal(want) {
				t.Errorf("grant %s was last used at %v, want %v; %v", id, g.LastUsedAt, want, err)
			}
		}
		return nil
	})
}

// testPackagesOfOthers: an id does not give access to another subject's packages (C-21).
func testPackagesOfOthers(t *testing.T, open Opener) {
	w := packageWorld(t, open)
	bea := subjectIn(t, w.store, "bea")
	if got := bea.members("gpkg_1"); len(got) != 0 {
		t.Errorf("another subject has the members %v", got)
	}
	w.view(func(v store.View) error {
		got, err := v.Packages(bea.subject)
		if len(got) != 0 {
			t.Errorf("another subject has the packages %v", got)
		}
		if _, err := v.Package(bea.subject, "gpkg_1"); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			t.Errorf("Package of another subject = %v, want not_found", err)
		}
		return err
	})
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		_, _, _, err := tx.RevokePackage(bea.subject, "gpkg_1", at(1))
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeNotFound {
		t.Errorf("RevokePackage of another subject = %v, want not_found", err)
	}
	if m := w.members("gpkg_1"); m[0].Fault(tally.ID, at(50)) != "" {
		t.Error("another subject revoked a member")
	}
}
