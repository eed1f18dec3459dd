package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/instance"
	"pdpp/internal/manifest"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// source is a connection and its manifest as a command line names them (H-20).
type source struct {
	manifest   *pdpp.Manifest // nil: the manifest in the store
	connection string         // a name or an id
	label      string
	fresh      bool // the connection must not exist yet
}

// target is the connection and the manifest of a source.
type target struct {
	connection pdpp.Connection
	manifest   *pdpp.Manifest
	isNew      bool // the connection does not exist yet
	relabel    bool // the connection gets another label
}

var connectionName = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)

const idPrefix = "cin_"

// readManifest reads a manifest file; nil when path is "". It prints a warning for each
// change that adapts a manifest of the public implementation (M-13).
func (a *app) readManifest(path string) (*pdpp.Manifest, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := readFile(path, 4<<20)
	if err != nil {
		return nil, err
	}
	m, changes, err := manifest.Adapt(raw)
	var e *pdpp.Error
	if errors.As(err, &e) {
		e.Message = path + " is not a valid manifest:\n" + e.Message
		e.Hint = "Correct these places of the file, then run the command again."
		return nil, err
	}
	for _, change := range changes {
		a.note("pdpp: warning: %s: %s", path, change)
	}
	return m, err
}

// readFile reads a small input file.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(path, err)
	}
	defer f.Close()
	return readAll(path, f, limit)
}

func readAll(name string, r io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, missing(name, err)
	}
	if int64(len(raw)) > limit {
		return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "%s has more than %s bytes. Check that it is the right file.", name, thousands(limit))
	}
	return raw, nil
}

func missing(path string, err error) error {
	e := &pdpp.Error{Code: pdpp.CodeInputMissing, Message: path + " cannot be read.", Hint: "Name a file that this user may read.", Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Message, e.Hint = path+" does not exist.", "Check the name, and the folder in which you run the command."
	}
	return e
}

// find returns the target of the source in a catalog, or a target with the connection to
// create. It changes nothing.
func (s source) find(c *pdpp.Catalog) (target, error) {
	conn, err := s.existing(c)
	if err != nil {
		return target{}, err
	}
	t := target{manifest: s.manifest}
	if conn != nil {
		t.connection = *conn
		t.relabel = s.label != "" && s.label != conn.Label
	} else {
		t.isNew = true
		t.connection = pdpp.Connection{
			ID: pdpp.ConnectionID(secret.ConnectionID()), Connector: s.manifest.ConnectorKey, Name: s.connection, Status: pdpp.ConnectionActive,
		}
	}
	if s.label != "" {
		t.connection.Label = s.label
	}
	if t.manifest == nil {
		t.manifest = c.Manifest(t.connection.Connector)
	}
	if t.manifest == nil {
		return target{}, pdpp.Errorf(pdpp.CodeUsage, "The source of this connection has no manifest. Add --manifest FILE.")
	}
	return t, nil
}

// existing finds the named connection; nil when it does not exist yet.
func (s source) existing(c *pdpp.Catalog) (*pdpp.Connection, error) {
	if strings.HasPrefix(s.connection, idPrefix) {
		conn, ok := c.Connection(pdpp.ConnectionID(s.connection))
		if !ok {
			return nil, noConnection(c, s.connection)
		}
		if s.manifest != nil && s.manifest.ConnectorKey != conn.Connector {
			return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "Connection %s belongs to the source %q, but the manifest is for %q. Use the manifest of that source.",
				conn.ID, conn.Connector, s.manifest.ConnectorKey)
		}
		return &conn, nil
	}
	var found []pdpp.Connection
	for _, conn := range c.Connections {
		if conn.Name == s.connection && (s.manifest == nil || conn.Connector == s.manifest.ConnectorKey) {
			found = append(found, conn)
		}
	}
	switch {
	case len(found) > 0 && s.fresh:
		return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "There is already a connection %q of %q: %s. Choose another name.", s.connection, found[0].Connector, found[0].ID)
	case len(found) == 1:
		return &found[0], nil
	case len(found) > 1:
		return nil, &pdpp.Error{
			Code: pdpp.CodeUsage, Message: fmt.Sprintf("Several connections are named %q.", s.connection),
			Hint: "Name one by its id: " + listed(found) + ".",
		}
	case s.manifest == nil:
		return nil, noConnection(c, s.connection)
	case !connectionName.MatchString(s.connection):
		return nil, pdpp.Errorf(pdpp.CodeUsage, "%q is not valid as the name of a connection. Use 1 to 64 of a-z, 0-9, dot, dash and underscore.", s.connection)
	}
	return nil, nil
}

// noConnection returns an error that lists the existing connections.
func noConnection(c *pdpp.Catalog, name string) error {
	e := pdpp.Errorf(pdpp.CodeConnectionNotFound, "There is no connection %s.", plain(name))
	if e.Hint = "There are no connections yet."; len(c.Connections) > 0 {
		e.Hint = "Choose one of: " + listed(c.Connections) + "."
	}
	if !strings.HasPrefix(name, idPrefix) {
		e.Hint += " To create it, run ingest or import with --manifest."
	}
	return e
}

func listed(connections []pdpp.Connection) string {
	var names []string
	for _, c := range connections {
		names = append(names, fmt.Sprintf("%s (%s, %s)", c.Name, c.Connector, c.ID))
	}
	return strings.Join(names, ", ")
}

// register stores the manifest and the connection of a source in one transaction. Then it
// indexes the existing records as the manifest declares. If that is interrupted, a server
// or the next command with a manifest continues it.
func (a *app) register(ctx context.Context, s session, src source) (t target, err error) {
	b := a.newBar()
	var lost []string
	err = s.store.Update(ctx, func(tx store.Tx) error {
		c, err := tx.Catalog(s.owner.ID)
		if err != nil {
			return err
		}
		if t, err = src.find(c); err != nil {
			return err
		}
		if src.manifest != nil {
			if lost, err = undeclared(tx, s.owner.ID, c, src.manifest); err != nil {
				return err
			}
			if err = tx.PutManifest(s.owner.ID, src.manifest); err != nil {
				return err
			}
		}
		if t.isNew {
			t.connection.CreatedAt = a.Now()
		}
		if t.isNew || t.relabel {
			return tx.PutConnection(s.owner.ID, t.connection)
		}
		return nil
	})
	if err == nil && src.manifest != nil {
		err = store.Reindex(ctx, s.store, func(done int) {
			b.show(step{name: "rebuilding the index", records: int64(done)})
		})
	}
	b.clear()
	if err == nil && len(lost) > 0 {
		a.note("pdpp: warning: the manifest of %s no longer declares: %s; these records are kept but cannot be read",
			src.manifest.ConnectorKey, strings.Join(lost, ", "))
	}
	return t, err
}

// undeclared returns the streams that have records and are missing in the new manifest of
// their connector.
func undeclared(v store.Accounts, owner pdpp.SubjectID, c *pdpp.Catalog, m *pdpp.Manifest) ([]string, error) {
	usage, err := v.Usage(owner)
	if err != nil {
		return nil, err
	}
	records := map[string]int64{}
	for _, u := range usage {
		conn, ok := c.Connection(u.Connection)
		if ok && conn.Connector == m.ConnectorKey && u.Records > 0 && m.Stream(u.Stream) == nil {
			records[u.Stream] += u.Records
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(records)) {
		out = append(out, name+" ("+count(records[name], "record", "records")+")")
	}
	return out, nil
}

// findTarget finds the target of a source for a dry run. It stores nothing and creates no
// store.
func (a *app) findTarget(ctx context.Context, src source) (t target, err error) {
	dir, err := a.dataFolder()
	if err != nil {
		return t, err
	}
	if !instance.Exists(dir) {
		return src.find(&pdpp.Catalog{})
	}
	err = a.withStore(ctx, func(st store.Store) error {
		return st.View(ctx, func(v store.View) error {
			c := &pdpp.Catalog{}
			owners, err := v.Subjects()
			if err != nil {
				return err
			}
			if len(owners) > 0 {
				owner, err := chooseOwner(owners, a.Owner)
				if err != nil {
					return err
				}
				if c, err = v.Catalog(owner.ID); err != nil {
					return err
				}
			}
			t, err = src.find(c)
			return err
		})
	})
	return t, err
}
