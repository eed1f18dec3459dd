// Makes calls with an official TypeScript client, which validates structured output, and
// prints what its user gets of each: the result, or the message of the error. Usage:
//
//	calls.mjs PACKAGE REVISION CALLS COMMAND ARGS…   over standard input and output
//	calls.mjs PACKAGE REVISION CALLS URL             over HTTP, with the bearer in $TOKEN
//
// PACKAGE is as in session.mjs; CALLS is a JSON list of [tool, arguments].
const [generation, revision, calls, target, ...args] = process.argv.slice(2);
const scope = '@modelcontextprotocol/';
const modules = {
  sdk: ['sdk/client/index.js', 'sdk/client/stdio.js', 'sdk/client/streamableHttp.js'],
  client: ['client', 'client/stdio', 'client'],
}[generation];
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] = await Promise.all(modules.map((m) => import(scope + m)));
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: 'Bearer ' + process.env.TOKEN } } })
  : new StdioClientTransport({ command: target, args, stderr: 'inherit' });
const pinned = revision >= '2026' ? { versionNegotiation: { mode: { pin: revision } } } : {};
const client = new Client({ name: 'pdpp-tests', version: '1' }, pinned);
const out = [];
let open = true;
try {
  await client.connect(transport);
  await client.listTools();
} catch (e) {
  open = false;
  out.push({ thrown: e.message });
}
for (const [name, args] of open ? JSON.parse(calls) : []) {
  try {
    const result = await client.callTool({ name, arguments: args });
    out.push({ text: result.content.map((b) => b.text).join('\n'), structured: result.structuredContent, isError: result.isError === true });
  } catch (e) {
    out.push({ thrown: e.message });
  }
}
await client.close().catch(() => {});
console.log(JSON.stringify(out));
