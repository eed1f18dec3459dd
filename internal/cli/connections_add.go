package cli

import (
	"context"
	"fmt"
	"strings"

	"pdpp"
)

// connectionsAdd is `pdpp connections add` (H-19).
type connectionsAdd struct {
	Manifest string `required:"" placeholder:"FILE" help:"Manifest of the source."`
	Name     string `required:"" placeholder:"NAME" help:"Short name, unique for the source: a-z, 0-9, dot, dash, underscore."`
	Label    string `placeholder:"TEXT" help:"Label to show."`
	jsonFlag
}

type connectionAnswer struct {
	ID          pdpp.ConnectionID `json:"connection_id"`
	Connector   pdpp.ConnectorKey `json:"connector_key"`
	Name        string            `json:"name"`
	DisplayName *string           `json:"display_name"`
}

func answerConnection(c pdpp.Connection) connectionAnswer {
	return connectionAnswer{c.ID, c.Connector, c.Name, orNull(c.DisplayName())}
}

// Run implements the command.
func (c *connectionsAdd) Run(ctx context.Context, a *app) error {
	if strings.HasPrefix(c.Name, idPrefix) {
		return pdpp.Errorf(pdpp.CodeUsage, "A name must not start with %q, which is the prefix of ids. Choose another name.", idPrefix)
	}
	m, err := a.readManifest(c.Manifest)
	if err != nil {
		return err
	}
	return a.withOwner(ctx, func(s session) error {
		t, err := a.register(ctx, s, source{manifest: m, connection: c.Name, label: c.Label, fresh: true})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(answerConnection(t.connection))
		}
		return a.print(fmt.Sprintf("Created connection %s (%s, %s).\n", c.Name, m.ConnectorKey, t.connection.ID))
	})
}
