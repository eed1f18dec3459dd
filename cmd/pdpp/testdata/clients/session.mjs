// Drives the MCP surface with an official TypeScript client: every tool and every class
// of error, once before and once after tools/list. After tools/list the client
// validates structured output by itself. It prints one JSON object. Usage:
//
//	session.mjs PACKAGE REVISION COMMAND ARGS…   over standard input and output
//	session.mjs PACKAGE REVISION URL             over HTTP, with the bearer in $TOKEN
//
// PACKAGE is sdk, the client that knows revisions with a handshake alone, or client, its
// successor, which knows those without one, too.
const [generation, revision, target, ...args] = process.argv.slice(2);
const scope = '@modelcontextprotocol/';
const modules = {
  sdk: ['sdk/client/index.js', 'sdk/client/stdio.js', 'sdk/client/streamableHttp.js'],
  client: ['client', 'client/stdio', 'client'],
}[generation];
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all(modules.map((m) => import(scope + m)));

const isURL = target.startsWith('http');
let status; // of the last answer over HTTP
let agreed; // the revision

function transport(token) {
  if (!isURL) return new StdioClientTransport({ command: target, args, stderr: 'inherit' });
  return new StreamableHTTPClientTransport(new URL(target), {
    requestInit: { headers: { Authorization: 'Bearer ' + token } },
    fetch: async (...request) => {
      const response = await fetch(...request);
      status = response.status;
      return response;
    },
  });
}

async function connect(token) {
  const pinned = revision >= '2026' ? { versionNegotiation: { mode: { pin: revision } } } : {};
  const client = new Client({ name: 'pdpp-tests', version: '1' }, pinned);
  const wire = transport(token);
  const set = wire.setProtocolVersion;
  wire.setProtocolVersion = (version) => {
    agreed = version;
    set?.call(wire, version);
  };
  await client.connect(wire);
  return client;
}

const client = await connect(process.env.TOKEN);
const text = (result) => result.content.filter((b) => b.type === 'text').map((b) => b.text).join('\n');

async function round() {
  const out = {};
  const call = async (key, name, args) => {
    const result = await client.callTool({ name, arguments: args });
    out[key] = { isError: result.isError === true, code: result.structuredContent?.error?.code ?? null, text: text(result), structured: result.structuredContent };
    return result;
  };
  await call('schema', 'schema', {});
  await call('schema of a stream', 'schema', { stream: 'messages' });
  await call('records', 'query_records', { stream: 'messages', limit: 3, fields: ['id', 'subject', 'sent_at'] });
  await call('count', 'aggregate', { stream: 'messages', metric: 'count', group_by_time: 'sent_at', granularity: 'month', limit: 3 });
  const found = await call('search', 'search', { q: 'Kaution Parkett', limit: 2 });
  const id = found.structuredContent.results[0].id;
  await call('fetch', 'fetch', { id });
  const message = (await client.callTool({ name: 'query_records', arguments: { stream: 'messages', limit: 1 } })).structuredContent.ids[0];
  await call('window', 'read_record_field', { id: message, field_path: 'body_text', limit_chars: 40 });
  await call('bad filter', 'query_records', { stream: 'messages', filter: 'folder=inbox' });
  await call('bad argument', 'query_records', { stream: 'messages', limit: '10' });
  await call('bad id', 'fetch', { id: 'noseparator' });
  await call('bad window', 'read_record_field', { id, field_path: 'x', q: 'a', cursor: 'fw1.1' });
  await call('field not granted', 'query_records', { stream: 'messages', fields: ['from_address'] });
  await call('stream not granted', 'query_records', { stream: 'transactions' });
  await call('ambiguous', 'fetch', { id: 'contacts:con-mara' });
  await call('not found', 'fetch', { id: 'messages:none' });
  return out;
}

const before = await round();
const { tools } = await client.listTools();
const after = await round();
let unknown = null;
try {
  await client.callTool({ name: 'list_streams', arguments: {} });
} catch (e) {
  unknown = e.code;
}
const templates = (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate);
const server = client.getServerVersion();
const instructions = client.getInstructions();
await client.close();

// The status that ends the attempt of a client whose token is not good here.
const refused = {};
for (const [who, token] of isURL ? Object.entries({ stranger: 'wrong', owner: process.env.OWNER_TOKEN }) : []) {
  await connect(token).catch(() => (refused[who] = status));
}
console.log(JSON.stringify({ revision: agreed, server, tools: tools.map((t) => t.name), instructions, before, after, unknown, templates, refused }));
