// Tries to sign in at a server with an official TypeScript client, as a host does after a
// 401, and prints what a person would read: the message of the error. Usage:
//
//	signin.mjs PACKAGE URL
//
// PACKAGE is sdk, or client, its successor.
const [generation, url] = process.argv.slice(2);
const scope = '@modelcontextprotocol/';
const modules = {
  sdk: ['sdk/client/index.js', 'sdk/client/streamableHttp.js'],
  client: ['client', 'client'],
}[generation];
const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all(modules.map((m) => import(scope + m)));

// saved is what a host keeps: nothing at first, or a client that it registered elsewhere.
async function signIn(saved) {
  let opened = null;
  const authProvider = {
    redirectUrl: 'http://127.0.0.1:1/callback',
    clientMetadata: { client_name: 'pdpp-tests', redirect_uris: ['http://127.0.0.1:1/callback'] },
    clientInformation: () => saved,
    saveClientInformation: () => {},
    tokens: () => undefined,
    saveTokens: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => 'v'.repeat(43),
    redirectToAuthorization: (page) => (opened = page),
  };
  const client = new Client({ name: 'pdpp-tests', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const seen = {};
  await client.connect(transport).catch((e) => (seen.connect = e.message));
  if (opened) {
    seen.page = await (await fetch(opened)).text();
    await transport.finishAuth('code').catch((e) => (seen.token = e.message));
  }
  return seen;
}

console.log(JSON.stringify({ stranger: await signIn(), registered: await signIn({ client_id: 'somebody' }) }));
