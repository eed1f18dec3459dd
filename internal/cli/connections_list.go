package cli

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// connectionsList is `pdpp connections list` (H-19).
type connectionsList struct{ jsonFlag }

type connectionRow struct {
	ID          pdpp.ConnectionID `json:"connection_id"`
	Connector   pdpp.ConnectorKey `json:"connector_key"`
	Name        string            `json:"name"`
	DisplayName *string           `json:"display_name"`
	Status      string            `json:"status"`
	Streams     map[string]int64  `json:"streams"`
	Records     int64             `json:"record_count"`
	LastIngest  *string           `json:"last_ingest_at"`

	last time.Time
}

// Run implements the command.
func (c *connectionsList) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		rows, err := listConnections(ctx, s)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(map[string]any{"connections": rows})
		}
		if len(rows) == 0 {
			return a.print("There are no connections yet. To add one, run: " + a.command("ingest --manifest FILE --connection NAME FILE") + "\n")
		}
		cells := [][]string{{"CONNECTION", "SOURCE", "NAME", "LABEL", "STATUS", "RECORDS", "LAST INGEST"}}
		for _, r := range rows {
			label := ""
			if r.DisplayName != nil {
				label = *r.DisplayName
			}
			cells = append(cells, []string{
				string(r.ID), string(r.Connector), r.Name, label, r.Status, thousands(r.Records), when(r.last, "never"),
			})
		}
		return a.print(table(cells...))
	})
}

func listConnections(ctx context.Context, s session) ([]connectionRow, error) {
	rows := []connectionRow{}
	err := s.store.View(ctx, func(v store.View) error {
		catalog, err := v.Catalog(s.owner.ID)
		if err != nil {
			return err
		}
		usage, err := v.Usage(s.owner.ID)
		if err != nil {
			return err
		}
		for _, c := range catalog.Connections {
			rows = append(rows, rowOf(c, usage))
		}
		return nil
	})
	return rows, err
}

func rowOf(c pdpp.Connection, usage []store.Usage) connectionRow {
	r := connectionRow{
		ID: c.ID, Connector: c.Connector, Name: c.Name, DisplayName: orNull(c.DisplayName()), Status: c.Status,
		Streams: map[string]int64{},
	}
	for _, u := range usage {
		if u.Connection != c.ID {
			continue
		}
		r.Streams[u.Stream] = u.Records
		r.Records += u.Records
		if u.LastIngest.After(r.last) {
			r.last = u.LastIngest
		}
	}
	r.LastIngest = timeOrNull(r.last)
	return r
}
