package mcp

import "testing"

var schemaCases = []struct{ name, args, body string }{
	{"index", `{}`, indexBody},
	{"index_connection", `{"connection_id":"cin_b2"}`, indexBody},
	{"many", `{}`, manyBody(30, 12, 3)},
	{"crowd", `{}`, manyBody(150, 2, 20)},
	{"hostile", `{}`, hostileBody},
	{"hostile_stream", `{"stream":"entries"}`, hostileBody},
	{"nothing", `{"stream":"letters"}`, indexBody},
	{"wide", `{"stream":"entries"}`, wideBody(1, 60)},
	{"wide_rows", `{"stream":"entries"}`, wideBody(6, 12)},
	{"crowd_rows", `{"stream":"entries"}`, wideBody(60, 5)},
	{"projected", `{}`, fullBody},
	{"projected_stream", `{"stream":"entries"}`, fullBody},
	{"full", `{"stream":"receipts","detail":"full"}`, fullBody},
	{"full_connection", `{"stream":"entries","detail":"full","connection_id":"cin_a1"}`, fullBody},
}

// TestSchemaText: the texts of MS-87 to MS-91.
func TestSchemaText(t *testing.T) {
	for _, tc := range schemaCases {
		t.Run(tc.name, func(t *testing.T) {
			res := mustDo(t, scripted(t, always(tc.body)).Surface, "schema", tc.args)
			text := res.Content[0].Text
			golden(t, "schema_"+tc.name+".txt", text+"\n")
			runnable(t, text)
		})
	}
}
