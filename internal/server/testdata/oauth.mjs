// Signs in at a server with an official TypeScript client, as a host does: connect, get a
// 401, send the owner to the authorization page, come back with the code, call a tool. Then
// the access token expires, and the tool is called again. Usage:
//
//	oauth.mjs PACKAGE REVISION URL CALLBACK [DOCUMENT]
//
// PACKAGE is sdk, the client that knows revisions with a handshake alone, or client, its
// successor. DOCUMENT is the URL of the client's metadata document; without it, the client
// registers itself. Each line of the output is a JSON object; where the script waits for the
// test, the test answers with a line: {"open": page} with the URL of the callback, {"call":
// result} when the token has expired.
import { createInterface } from 'node:readline';

const [generation, revision, url, redirectUrl, clientMetadataUrl] = process.argv.slice(2);
const scope = '@modelcontextprotocol/';
const modules = {
  sdk: ['sdk/client/index.js', 'sdk/client/streamableHttp.js'],
  client: ['client', 'client'],
}[generation];
const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all(modules.map((m) => import(scope + m)));

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function ask(message) {
  console.log(JSON.stringify(message));
  return (await input.next()).value;
}

const saved = {}; // what a host keeps
let page;
const authProvider = {
  redirectUrl,
  clientMetadataUrl,
  clientMetadata: { client_name: 'pdpp-tests', redirect_uris: [redirectUrl] },
  state: () => (saved.state ??= crypto.randomUUID()),
  clientInformation: () => saved.client,
  saveClientInformation: (client) => (saved.client = client),
  tokens: () => saved.tokens,
  saveTokens: (tokens) => (saved.tokens = tokens),
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: (verifier) => (saved.verifier = verifier),
  discoveryState: () => saved.discovery,
  saveDiscoveryState: (state) => (saved.discovery = state),
  redirectToAuthorization: (to) => (page = to),
};

const pinned = revision >= '2026' ? { versionNegotiation: { mode: { pin: revision } } } : {};
const newClient = () => new Client({ name: 'pdpp-tests', version: '1' }, pinned);
const newTransport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });

const cold = newTransport();
let refused = null;
await newClient().connect(cold).catch((e) => (refused = e.constructor.name));
const callback = new URL(await ask({ open: page, refused }));
if (callback.searchParams.get('state') !== saved.state) throw new Error('another state came back');
await cold.finishAuth(generation === 'client' ? callback.searchParams : callback.searchParams.get('code'));

const client = newClient();
await client.connect(newTransport());
async function call() {
  const result = await client.callTool({ name: 'query_records', arguments: { stream: 'messages' } });
  return { isError: result.isError === true, text: result.content.map((b) => b.text).join('\n') };
}
const first = saved.tokens;
await ask({ call: await call() });
const again = await call();
await client.close();
console.log(JSON.stringify({
  again, client: saved.client.client_id, scope: first.scope, page: page.href,
  refreshed: saved.tokens.access_token !== first.access_token && saved.tokens.refresh_token !== first.refresh_token,
}));
