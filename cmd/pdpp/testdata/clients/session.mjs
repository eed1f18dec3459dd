// Drives `pdpp mcp` with the official TypeScript client: every tool and every class
// of error, once before and once after tools/list. After tools/list the client
// validates structured output by itself. Usage: session.mjs COMMAND ARGS…; it prints
// one JSON object.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'pdpp-tests', version: '1' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));

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
  await call('bad window', 'read_record_field', { id, field_path: 'x', q: 'a', offset_chars: 1 });
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
await client.close();
console.log(JSON.stringify({ tools: tools.map((t) => t.name), instructions: client.getInstructions(), before, after, unknown, templates }));
