/** `creator test`: the conformance test of a server, sent by this computer or by the marketplace. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import bs58 from 'bs58';
import { KEY_DIRECTORY_PATH, KEY_DIRECTORY_TYPE } from '../sdk/creator/callSignature.ts';
import { createTestKeys, type Finding, testCreator } from '../sdk/creator/conformance.ts';
import type { ListingDraft } from '../sdk/wallet/listingDraft.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import type { ListingCheck } from '../sdk/wire/procedures.ts';
import { isAddress, open, publicKeyOf, readWallet } from './commands/options.ts';
import { type CommonOptions, fromCaller } from './config.ts';
import { readListingFile } from './listingFile.ts';
import { report } from './output.ts';
import { readSecretKey } from './wallet.ts';

const TIMEOUT_SECONDS = 30;
/** A server that was started a moment ago may not listen yet. */
const PATIENCE_MS = 10_000;
const HEALTH_MS = 5_000;
/** A placeholder that belongs to nobody: a test costs nothing. */
const NO_WALLET = '1'.repeat(32);

export interface TestOptions extends CommonOptions {
  listing?: string;
  signingKey?: string;
  task?: string;
  parameters?: Record<string, unknown>;
  timeout?: number;
  keysPort: number;
  throughMarketplace?: true;
}

/** Runs the test. Throws Refusal if it cannot begin. */
export async function testServer(
  url: string,
  options: TestOptions,
): Promise<{ ok: boolean; checks: (Finding | ListingCheck)[] }> {
  const draft = options.listing === undefined ? null : readListingFile(fromCaller(options.listing));
  const signingKey = await findSigningKey(url, options.signingKey ?? draft?.signingKeyPath ?? null);
  const test = {
    task: options.task ?? draft?.test?.task ?? 'test',
    parameters: options.parameters ?? draft?.test?.parameters ?? {},
  };
  const timeoutSeconds = options.timeout ?? draft?.timeoutSeconds ?? TIMEOUT_SECONDS;
  if (options.throughMarketplace) return testByMarketplace(url, options, { draft, signingKey, test, timeoutSeconds });
  const keys = createTestKeys();
  const server = await serveKeys(keys.directory, options.keysPort);
  try {
    const { task } = test;
    const parameters = JSON.stringify(test.parameters);
    const target = { url, signingKey, task, parameters, userPubkey: NO_WALLET, timeoutSeconds };
    const { ok, findings } = await testCreator({ sign: keys.sign, isStarting: true }, target, { full: true });
    if (findings[0]?.received?.startsWith('HTTP 401')) {
      report(
        `The server does not trust the key of this command. Start it with http://127.0.0.1:${options.keysPort} as its marketplace URL, or use --through-marketplace. Each test has a new key, and servers read new keys once a minute at most: after an earlier test, restart the server or wait a minute.`,
      );
    }
    return { ok, checks: findings };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function testByMarketplace(
  url: string,
  options: TestOptions,
  {
    draft,
    signingKey,
    test,
    timeoutSeconds,
  }: { draft: ListingDraft | null; signingKey: string; test: object; timeoutSeconds: number },
) {
  if (!draft) throw new Refusal('--through-marketplace needs --listing FILE, because the marketplace tests a listing.');
  const { testEndpoint } = await import('../sdk/wallet/listings.ts');
  const tested = {
    ...draft,
    metadata: { ...draft.metadata, endpoint: url },
    test: { ...(test as NonNullable<ListingDraft['test']>), publish: false },
    timeoutSeconds,
  };
  return testEndpoint(await open(options), {
    wallet: await readWallet(options),
    signingKey: await publicKeyOf(signingKey),
    draft: tested,
    full: true,
    onProgress: report,
  });
}

/** The key's address: the given one, that of the given key file, or the one that the server's GET /health names. */
async function findSigningKey(url: string, given: string | null): Promise<string> {
  if (given !== null) {
    if (isAddress(given)) return given;
    return bs58.encode(readSecretKey(fromCaller(given), 'the signing key').subarray(32));
  }
  const health = new URL('/health', url).href;
  const begunMs = performance.now();
  for (;;) {
    try {
      const response = await fetch(health, { redirect: 'error', signal: AbortSignal.timeout(HEALTH_MS) });
      const { signing_key } = (await response.json()) as { signing_key?: unknown };
      if (typeof signing_key === 'string' && isAddress(signing_key)) return signing_key;
      break;
    } catch (error) {
      if (error instanceof SyntaxError) break;
      // Nothing listens yet.
      if (performance.now() - begunMs > PATIENCE_MS) {
        throw new Refusal(`No server answers at ${health}. Start your server, or compare its address and port.`);
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
  throw new Refusal(
    `${health} names no signing key. Give --signing-key PATH or ADDRESS, or --listing FILE with signing_key.`,
  );
}

/** Serves the public half of the command's key, where a marketplace would serve its own. */
async function serveKeys(directory: object, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== KEY_DIRECTORY_PATH) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': KEY_DIRECTORY_TYPE }).end(JSON.stringify(directory));
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new Refusal(
      `Cannot serve the key on port ${port}: ${(error as Error).message}. Choose another port: --keys-port PORT.`,
    );
  }
  return server;
}
