/**
 * `getMultipleAccounts`, which every call asks several times. web3.js could do it, but checks answers by schemas that make
 * an error object for each alternative that does not fit, and that took more than the rest of the reading.
 */
import { type AccountInfo, type Commitment, type FetchFn, PublicKey } from '@solana/web3.js';
import { z } from 'zod';

const account = z.object({
  data: z.tuple([z.base64(), z.literal('base64')]),
  executable: z.boolean(),
  lamports: z.number(),
  owner: z.string(),
});
const answer = z.object({
  result: z.object({
    context: z.object({ slot: z.number() }),
    value: z.array(account.nullable()),
  }),
});

export interface ReadAccounts {
  /** When all of them were as they are here. */
  slot: number;
  /** In the order asked for, null where there is none. */
  accounts: (AccountInfo<Buffer> | null)[];
}

/** Reads accounts of one moment through `send`. Throws where the node refuses, or says what it could not mean. */
export async function readAccounts(
  { send, url }: { send: FetchFn; url: string },
  keys: PublicKey[],
  options: { commitment: Commitment; minContextSlot: number },
): Promise<ReadAccounts> {
  const params = [keys.map((key) => key.toBase58()), { encoding: 'base64', ...options }];
  const response = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMultipleAccounts', params }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the node answered ${response.status} ${response.statusText}`);
  const json = JSON.parse(text) as { error?: { message?: unknown } } | null;
  if (json?.error) throw new Error(`the node refused to read: ${String(json.error.message)}`);
  const { context, value } = answer.parse(json).result;
  if (value.length !== keys.length) throw new Error(`the node gave ${value.length} accounts for ${keys.length}`);
  return { slot: context.slot, accounts: value.map((found) => found && toAccountInfo(found)) };
}

function toAccountInfo({ data: [base64], owner, ...rest }: z.infer<typeof account>): AccountInfo<Buffer> {
  return { ...rest, owner: new PublicKey(owner), data: Buffer.from(base64, 'base64') };
}
