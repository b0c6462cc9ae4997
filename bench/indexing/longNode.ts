/**
 * A node whose program has a long history, made as it is asked for, in a process of its own: of so many transactions most have
 * failed, as a node lists them without more to fetch, and each hundredth has succeeded without an event.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';

const TRANSACTIONS_PER_SLOT = 40;
const SUCCEEDED_EVERY = 100;
const BLOCK_TIME = 1_750_000_000;
const OURS = PROGRAM_ID.toBase58();
const LETTERS = 'ABCDEFGHJK';
const PLACES = 9;
const total = Number(process.argv[2]);

/** As long as one, and its place in the history can be read from it. */
const signatureOf = (at: number) =>
  [...String(at).padStart(PLACES, '0')].map((digit) => LETTERS[Number(digit)]).join('') + 'Z'.repeat(88 - PLACES);
const placeOf = (signature: string) => Number([...signature.slice(0, PLACES)].map((l) => LETTERS.indexOf(l)).join(''));
const slotOf = (at: number) => 1_000 + Math.floor(at / TRANSACTIONS_PER_SLOT);
const HEAD = slotOf(total) + 100;

function list({ limit, before, until }: { limit: number; before?: string; until?: string }) {
  const newest = before === undefined ? total - 1 : placeOf(before) - 1;
  const oldest = Math.max(until === undefined ? 0 : placeOf(until) + 1, newest - limit + 1);
  return Array.from({ length: Math.max(newest - oldest + 1, 0) }, (_, index) => ({
    signature: signatureOf(newest - index),
    slot: slotOf(newest - index),
    err: (newest - index) % SUCCEEDED_EVERY === 0 ? null : { InstructionError: [0, { Custom: 6000 }] },
    memo: null,
    blockTime: BLOCK_TIME,
    confirmationStatus: 'finalized',
  }));
}

function transaction(signature: string) {
  return {
    slot: slotOf(placeOf(signature)),
    blockTime: BLOCK_TIME,
    version: 'legacy',
    transaction: {
      signatures: [signature],
      message: {
        accountKeys: [OURS],
        header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
        recentBlockhash: OURS,
        instructions: [],
      },
    },
    meta: {
      err: null,
      fee: 5_000,
      preBalances: [],
      postBalances: [],
      innerInstructions: [],
      logMessages: [
        'Program 11111111111111111111111111111111 invoke [1]',
        'Program 11111111111111111111111111111111 success',
      ],
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as JSON-RPC has them
const METHODS: Record<string, (params: any[]) => unknown> = {
  getSlot: () => HEAD,
  getSignaturesForAddress: ([, options]) => list(options),
  getTransaction: ([signature]) => transaction(signature),
  getSignatureStatuses: ([signatures]) => ({
    context: { slot: HEAD },
    value: (signatures as string[]).map((signature) => ({
      slot: slotOf(placeOf(signature)),
      confirmations: null,
      err: null,
      confirmationStatus: 'finalized',
    })),
  }),
};

const server = createServer(async (request, response) => {
  const { id, method, params } = JSON.parse(await text(request));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: METHODS[method]!(params) }));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
process.once('disconnect', () => process.exit());
