package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/blobfile"
	"pdpp/internal/demo"
	"pdpp/internal/ingest"
	"pdpp/internal/manifest"
	"pdpp/internal/store"
)

const (
	demoBuilt    = "demo_built" // has the version of the data once all of it is stored
	demoVersion  = "2"          // 1 had no blobs
	demoClient   = "Demo assistant"
	demoLabel    = "Demo"
	demoTokenTTL = 30 * day
)

// demoState is the demo's data and tokens, as the tour shows them.
type demoState struct {
	owner      pdpp.SubjectID
	records    int64
	again      bool      // the demo was started before
	client     *newGrant // the grant of the demo's client, with its token
	ownerToken string
	notes      pdpp.ConnectionID // to which the tour adds a record
	mail       pdpp.ConnectionID // in which the tour changes a record
	letter     string            // id of a message with attachments, within the grant
}

// buildDemo completes the demo: its data, a grant and new tokens.
func (a *app) buildDemo(ctx context.Context, in opened) (*demoState, error) {
	owner, err := a.findOwner(ctx, in.store, defaultOwner)
	if err != nil {
		return nil, err
	}
	s := session{in.store, owner}
	var built []byte
	err = in.store.View(ctx, func(v store.View) (err error) {
		built, err = v.Meta(demoBuilt)
		return err
	})
	if err == nil && string(built) != demoVersion {
		err = a.loadDemo(ctx, s, in.blobs)
	}
	if err != nil {
		return nil, err
	}
	d := &demoState{owner: owner.ID, letter: findLetter(), again: built != nil}
	if err := d.count(ctx, s); err != nil {
		return nil, err
	}
	return d, d.authorize(ctx, s, a.Now())
}

// demoPart is the data of one connection.
type demoPart struct {
	source source
	lines  []byte
	blobs  []string // ids
}

func demoParts() ([]demoPart, int64, error) {
	var parts []demoPart
	var total int64
	for _, src := range demo.Sources() {
		m, err := manifest.Parse(src.Manifest)
		if err != nil {
			return nil, 0, err
		}
		for _, c := range src.Connections {
			var lines bytes.Buffer
			for line := range demo.Lines(string(m.ConnectorKey), c.Name) {
				lines.Write(line)
				lines.WriteByte('\n')
			}
			total += int64(lines.Len())
			parts = append(parts, demoPart{
				source{manifest: m, connection: c.Name, label: c.Label},
				lines.Bytes(),
				slices.Collect(demo.Blobs(string(m.ConnectorKey), c.Name)),
			})
		}
	}
	return parts, total, nil
}

// loadDemo stores the invented data through the same ingest as any other data. It can be
// interrupted and repeated: records that are already stored count as unchanged.
func (a *app) loadDemo(ctx context.Context, s session, blobs *blobfile.Store) error {
	if !a.color {
		a.note("pdpp: building the demo data")
	}
	parts, total, err := demoParts()
	if err != nil {
		return err
	}
	b := a.newBar()
	defer b.clear()
	var done, records int64
	for _, p := range parts {
		t, err := a.register(ctx, s, p.source)
		if err != nil {
			return err
		}
		if err := p.putBlobs(ctx, s, blobs, t.connection.ID, a.Now()); err != nil {
			return err
		}
		runner := &ingest.Runner{Store: s.store, Clock: a.Now, Progress: func(now ingest.Progress) {
			b.show(step{name: "building the demo data", done: done + now.Bytes, total: total, records: records + now.Records})
		}}
		file := ingest.File{Name: t.connection.Label, Reader: bytes.NewReader(p.lines)}
		summary, err := runner.Run(ctx, s.owner.ID, t.connection, t.manifest, ingest.Options{}, []ingest.File{file})
		if err != nil {
			return err
		}
		if n := summary.Records.Rejected; n > 0 {
			return pdpp.Errorf(pdpp.CodeInternal, "%d records of the demo were rejected.", n)
		}
		done += int64(len(p.lines))
		records += summary.Records.Total()
	}
	return s.store.Update(ctx, func(tx store.Tx) error { return tx.PutMeta(demoBuilt, []byte(demoVersion)) })
}

// putBlobs uploads the blobs of a part before the records that refer to them.
func (p demoPart) putBlobs(ctx context.Context, s session, blobs *blobfile.Store, conn pdpp.ConnectionID, now time.Time) error {
	for _, id := range p.blobs {
		content, mediaType, _ := demo.Blob(id)
		_, err := ingest.PutBlob(ctx, s.store, blobs, ingest.Upload{
			Subject: s.owner.ID, Connection: conn, MediaType: mediaType, Content: bytes.NewReader(content),
		}, now)
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts the records and finds the connections to which the tour writes.
func (d *demoState) count(ctx context.Context, s session) error {
	rows, err := listConnections(ctx, s)
	for _, r := range rows {
		d.records += r.Records
		switch {
		case r.Connector == "notes":
			d.notes = r.ID
		case r.Connector == "mail" && r.Name == "personal":
			d.mail = r.ID
		}
	}
	return err
}

// authorize creates the grant and the tokens of this start. It revokes those of earlier
// starts, so that they do not accumulate.
func (d *demoState) authorize(ctx context.Context, s session, now time.Time) error {
	err := s.changeRights(ctx, func(tx store.Tx) error {
		if err := revokeEarlier(tx, s.owner.ID, now); err != nil {
			return err
		}
		var err error
		_, d.ownerToken, err = createOwnerToken(tx, s.owner.ID, demoLabel, now, demoTokenTTL)
		return err
	})
	if err != nil {
		return err
	}
	issue := &grantIssue{client: demoClient, spec: demo.GrantSpec(), audience: []string{"rest", "mcp"}, ttl: demoTokenTTL}
	d.client, err = issue.create(ctx, s, now)
	return err
}

func revokeEarlier(tx store.Tx, owner pdpp.SubjectID, now time.Time) error {
	client, err := tx.Client(owner, demoClient)
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	grants, err := tx.Grants(owner, store.GrantFilter{Client: client.ID})
	if err != nil {
		return err
	}
	for _, g := range grants {
		if _, _, err := tx.RevokeGrant(owner, g.ID, now); err != nil {
			return err
		}
	}
	tokens, err := tx.Tokens(owner, "")
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.Label != demoLabel {
			continue
		}
		if _, _, err := tx.RevokeToken(owner, t.ID, now); err != nil {
			return err
		}
	}
	return nil
}

// findLetter returns the id of the newest private message with attachments.
func findLetter() string {
	for _, line := range slices.Backward(slices.Collect(demo.Lines("mail", "personal"))) {
		var m struct {
			Stream string
			Key    string
			Data   struct {
				Attachments int `json:"attachment_count"`
			}
		}
		if json.Unmarshal(line, &m) == nil && m.Stream == "messages" && m.Data.Attachments > 0 {
			return m.Key
		}
	}
	return ""
}
