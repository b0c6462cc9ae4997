/** The server that the marketplace calls. It refuses every call that this marketplace did not sign. */
import { createCreatorServer, KEY_DIRECTORY_PATH, loadSigningKey } from '@agent-marketplace/sdk/creator';
import { execute } from './agent.ts';

const { MARKETPLACE_URL = 'http://127.0.0.1:8787', SIGNING_KEY_FILE = 'signing-key.json', PORT = '8080' } = process.env;
const marketplace = MARKETPLACE_URL.replace(/\/+$/, '');

createCreatorServer({
  signingKey: loadSigningKey(SIGNING_KEY_FILE),
  verify: { directoryUrl: marketplace + KEY_DIRECTORY_PATH },
  execute,
}).listen(Number(PORT), () => console.log(`listening on port ${PORT} for calls of ${marketplace}`));
