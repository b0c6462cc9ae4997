/** Calls /trpc anonymously or as a signed-in wallet, and expects refusals. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { MarketplaceError } from '../../../app/sdk/client/error.ts';
import { clientOf } from '../../../app/sdk/wallet/service.ts';
import type { World } from '../../harness/edge/api.ts';

export async function refusal(call: Promise<unknown>): Promise<MarketplaceError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MarketplaceError)) throw new Error(`expected a refusal, not ${String(error)}`);
  return error;
}

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

  async function signIn(wallet: Keypair) {
    const address = wallet.publicKey.toBase58();
    const { message } = await anonymous().call('auth.challenge', { wallet: address });
    const answer = { wallet: address, message, signature: sign(wallet, message) };
    const { token } = await anonymous().call('auth.verify', answer);
    return { ...clientOf({ baseUrl: world().url }, token), token };
  }

  /** Signs in as a page does. `origin` is the page's; `cookie` is the value that the browser sends back. */
  async function signInByCookie(wallet: Keypair, origin = world().deps.baseUrl()) {
    const address = wallet.publicKey.toBase58();
    const { message } = await anonymous().call('auth.challenge', { wallet: address });
    const body = { wallet: address, message, signature: sign(wallet, message) };
    const answer = await world().post('/trpc/auth.signIn', body, { headers: { origin } });
    const setCookie = answer.headers.get('set-cookie') ?? '';
    return { answer, setCookie, cookie: setCookie.split(';')[0]! };
  }

  return { anonymous, sign, signIn, signInByCookie };
}
