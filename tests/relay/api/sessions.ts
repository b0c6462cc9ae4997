/** Calls /trpc anonymously or as a signed-in wallet, expects refusals, and adds keys and records as on-chain. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { MarketplaceError } from '../../../app/sdk/client/error.ts';
import { type ExecutionRecord, findExecution } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOfHash } from '../../../app/sdk/receipt/apiKey.ts';
import { parseUuid, requestHash, signMessage, startMessage } from '../../../app/sdk/receipt/receipt.ts';
import { clientOf } from '../../../app/sdk/wallet/service.ts';
import { grantAccount } from '../../harness/edge/accounts.ts';
import type { World } from '../../harness/edge/api.ts';
import { EPOCH, newAddress, newExecutionId, type TestKey } from '../../harness/edge/rows.ts';

export async function refusal(call: Promise<unknown>): Promise<MarketplaceError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MarketplaceError)) throw new Error(`expected a refusal, not ${String(error)}`);
  return error;
}

/** The status and code of a refusal, such as `404 not_found`. */
export async function refusedAs(call: Promise<unknown>): Promise<string> {
  const { status, code } = await refusal(call);
  return `${status} ${code}`;
}

export const idsOf = (rows: { execution_id: string }[]): string[] => rows.map(({ execution_id }) => execution_id);

/** Posts with any Host header, which `fetch` would not send. */
export async function postTo(
  { port }: World,
  host: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
): Promise<{ status: number; json: any }> {
  const all = { ...headers, host, 'content-type': 'application/json' };
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers: all, agent: false });
  sent.end(JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, json: JSON.parse(await text(answer)) };
}

/** Helpers for /trpc of this world. */
export function sessionsOf(world: () => World) {
  const anonymous = () => clientOf({ baseUrl: world().url });
  const sign = (wallet: Keypair, message: string): string =>
    bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), wallet.secretKey));

  /** A challenge, signed by the wallet. */
  async function answerOf(wallet: Keypair) {
    const address = wallet.publicKey.toBase58();
    const { message } = await anonymous().call('auth.challenge', { wallet: address });
    return { wallet: address, message, signature: sign(wallet, message) };
  }

  async function signIn(wallet: Keypair) {
    const { token } = await anonymous().call('auth.verify', await answerOf(wallet));
    return { ...clientOf({ baseUrl: world().url }, token), token };
  }

  /** Signs in as a page does. `origin` is the page's; `cookie` is the value that the browser sends back. */
  async function signInByCookie(wallet: Keypair, origin = world().deps.baseUrl()) {
    const answer = await world().post('/trpc/auth.signIn', await answerOf(wallet), { headers: { origin } });
    const setCookie = answer.headers.get('set-cookie') ?? '';
    return { answer, setCookie, cookie: setCookie.split(';')[0]! };
  }

  /** A key whose grant is on-chain, but not yet registered. */
  function grantedKey(wallet = newAddress()): TestKey {
    const apiKey = createApiKey('test');
    const keyHash = hashApiKey(apiKey);
    const key = { wallet, apiKey, keyHash, keyId: keyIdOfHash(keyHash) };
    world().state.grants.set(`${wallet}:${key.keyId}`, grantAccount(key));
    return key;
  }

  /** A record that a wallet has opened, as the chain has it, and the signature by which the wallet starts its call. */
  function openedRecord(wallet: Keypair, listing: string, task: string, parameters?: object) {
    const executionId = newExecutionId();
    const id = parseUuid(executionId)!;
    const hash = requestHash(task, parameters);
    world().state.records.set(executionId, {
      status: 'open',
      executionId: id,
      listing: new PublicKey(listing),
      caller: wallet.publicKey,
      keyId: new Uint8Array(16),
      requestHash: hash,
      price: 250_000n,
      openedAt: BigInt(EPOCH),
      deadline: BigInt(EPOCH + 60),
    } as unknown as ExecutionRecord);
    const request_hash = Buffer.from(hash).toString('hex');
    const message = startMessage(findExecution(id).toBase58(), request_hash);
    return { executionId, request_hash, wallet_signature: signMessage(wallet.secretKey, message) };
  }

  return { anonymous, sign, answerOf, signIn, signInByCookie, grantedKey, openedRecord };
}
