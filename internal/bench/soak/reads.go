package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// readAny makes one read of a random kind.
func (c *client) readAny(ctx context.Context, i int) {
	token := c.world.readers[i%len(c.world.readers)]
	base := c.world.conns["base"]
	switch rand.IntN(7) {
	case 0:
		c.get(ctx, token, "/v1/streams/messages/records?fields=id,subject,sent_at&connection_id="+base)
	case 1:
		c.get(ctx, token, fmt.Sprintf("/v1/streams/messages/records/base-%d?connection_id=%s", rand.IntN(100), base))
	case 2:
		c.get(ctx, token, "/v1/search?limit=10&q="+vocabulary[rand.IntN(len(vocabulary))]+"&connection_id="+base)
	case 3:
		c.get(ctx, token, "/v1/streams/messages/aggregate?metric=count&group_by=category")
	case 4:
		c.get(ctx, token, "/v1/streams/messages/records?changes_since=beginning&fields=id&connection_id="+base)
	case 5:
		c.call(ctx, token, `{"name":"query_records","arguments":{"stream":"messages","limit":5,"connection_id":"`+base+`"}}`)
	case 6:
		c.call(ctx, token, `{"name":"search","arguments":{"q":"`+vocabulary[rand.IntN(len(vocabulary))]+`"}}`)
	}
	pause(ctx, 10*time.Millisecond)
}

// call calls a tool of the hosted endpoint.
func (c *client) call(ctx context.Context, token, params string) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	c.do(ctx, request{token, http.MethodPost, "/mcp", "application/json", []byte(body)})
}

// searchLongTexts searches for words that only the long texts contain.
func (c *client) searchLongTexts(ctx context.Context, i int) {
	c.get(ctx, c.world.readers[i], "/v1/search?q=needle+garden")
	pause(ctx, 50*time.Millisecond)
}

// readPageSlowly requests whole records of several MB and reads the answer slowly.
func (c *client) readPageSlowly(ctx context.Context, i int) {
	c.readSlowly(ctx, c.world.readers[i%len(c.world.readers)], "/v1/streams/messages/records?connection_id="+c.world.conns["large"])
}

// readExpansionSlowly requests one record with many large children and reads the answer
// slowly.
func (c *client) readExpansionSlowly(ctx context.Context, i int) {
	c.readSlowly(ctx, c.world.readers[i%len(c.world.readers)],
		"/v1/streams/messages/records/large-0?expand=parts&expand_limit[parts]=15&connection_id="+c.world.conns["large"])
}

// readSlowly reads an answer in small pieces for up to twenty seconds.
func (c *client) readSlowly(ctx context.Context, token, path string) {
	defer pause(ctx, time.Second)
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.server.addr)
	if err != nil {
		return // the server is down
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, c.server.addr, token)
	piece := make([]byte, 4096)
	for range 20 {
		if _, err := conn.Read(piece); err != nil || !pause(ctx, time.Second) {
			return
		}
	}
	c.report.count("slow reads")
}
