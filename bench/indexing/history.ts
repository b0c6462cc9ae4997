/**
 * Records a history for the index once, and keeps it in a file: transactions with the logs and encoded events that the
 * program prints. As in practice, executions overlap: each is settled some dozens of transactions after its open.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PublicKey } from '@solana/web3.js';
import type { EventData, EventName } from '../../app/sdk/program/eventFields.ts';
import { codecOf } from '../../app/sdk/program/idlCodec.ts';
import { findGrant, idl, PROGRAM_ID } from '../../app/sdk/program/program.ts';
import type { HistoricTransaction } from '../../app/solana/helius.ts';

const LISTINGS = 500;
const CALLERS = 500;
/** Executions that are open at the same time. */
const OPEN = 60;
const TRANSACTIONS_PER_SLOT = 40;
const START = 1_750_000_000n;

const OURS = PROGRAM_ID.toBase58();
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const BUDGET = 'ComputeBudget111111111111111111111111111111';

const randomKey = () => new PublicKey(randomBytes(32));

const CHUNK_BYTES = 1_048_576;

/** Writes this many transactions, one per line: listings and grants first, then opens and settles alternately. */
export function recordHistory(path: string, transactions: number): void {
  const file = openSync(path, 'w');
  let lines = '';
  let left = transactions;
  for (const { instruction, data } of recordEvents()) {
    if (left === 0) break;
    lines += `${randomSignature()} ${instruction} ${data}\n`;
    left -= 1;
    if (lines.length < CHUNK_BYTES && left > 0) continue;
    writeSync(file, lines, null, 'latin1');
    lines = '';
  }
  closeSync(file);
}

/** Reads this many transactions from the start of the file, in pages. */
export async function* readHistory(
  path: string,
  transactions: number,
  pageSize: number,
): AsyncGenerator<HistoricTransaction[]> {
  let page: HistoricTransaction[] = [];
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    if (count === transactions) break;
    const [signature, instruction, data] = line.split(' ') as [string, string, string];
    const slot = 1_000 + Math.floor(count / TRANSACTIONS_PER_SLOT);
    page.push({ signature, slot, hasFailed: false, logs: logsOf(instruction, data) });
    count += 1;
    if (page.length < pageSize && count < transactions) continue;
    yield page;
    page = [];
  }
  if (count < transactions) throw new Error(`${path} has only ${count} transactions`);
}

interface Printed {
  instruction: string;
  data: string;
}

function* recordEvents(): Generator<Printed> {
  const rentSponsor = randomKey();
  const payout = randomKey();
  const listings = Array.from({ length: LISTINGS }, randomKey);
  const callers = Array.from({ length: CALLERS }, () => ({ wallet: randomKey(), keyId: randomBytes(16) }));
  for (const listing of listings) yield listed(listing, payout, rentSponsor);
  for (const { wallet, keyId } of callers) yield granted(wallet, keyId, rentSponsor);
  const open: EventData<'ExecutionOpened'>[] = [];
  for (let count = 0; ; count += 1) {
    const listing = listings[count % LISTINGS]!;
    // These steps have no common factor, so every caller calls every listing.
    const caller = callers[(count * 7 + Math.floor(count / LISTINGS)) % CALLERS]!;
    const event = opened(listing, caller, rentSponsor, START + BigInt(Math.floor(count / 20)));
    open.push(event);
    yield print('OpenExecutionWithGrant', 'ExecutionOpened', event);
    if (open.length > OPEN) yield settled(open.shift()!, payout);
  }
}

function listed(listing: PublicKey, payout: PublicKey, rentSponsor: PublicKey): Printed {
  return print('ListAgent', 'AgentListed', {
    listing,
    creator: randomKey(),
    listingId: randomBytes(16),
    signingKey: randomKey(),
    payout,
    price: 300_000n,
    timeoutSeconds: 60,
    minTimeoutSeconds: 5,
    tagMask: 3,
    listingVersion: 1,
    deposited: 5_000_000n,
    rentSponsor,
    metadataHash: randomBytes(32),
    metadataUri: 'https://agents.example/metadata.json',
    listedAt: START,
  });
}

function granted(wallet: PublicKey, keyId: Uint8Array, rentSponsor: PublicKey): Printed {
  return print('CreateGrant', 'GrantCreated', {
    grant: findGrant(wallet, keyId),
    wallet,
    keyId,
    perExecutionMax: 1_000_000n,
    periodMax: 1_000_000_000n,
    totalMax: 2n ** 64n - 1n,
    periodSeconds: 86_400,
    maxGasLamports: 50_000,
    expiresAt: START + 31_536_000n,
    createdAt: START,
    rentSponsor,
  });
}

function opened(
  listing: PublicKey,
  { wallet, keyId }: { wallet: PublicKey; keyId: Uint8Array },
  rentSponsor: PublicKey,
  openedAt: bigint,
): EventData<'ExecutionOpened'> {
  return {
    record: randomKey(),
    executionId: randomBytes(16),
    listing,
    caller: wallet,
    signingKey: listing,
    keyId,
    rentSponsor,
    price: 300_000n,
    feeBps: 100,
    listingVersion: 1,
    requestHash: randomBytes(32),
    openedAt,
    deadline: openedAt + 60n,
    refundAt: openedAt + 120n,
    disputeWindowSeconds: 259_200,
    gasLamports: 15_000,
    grantExecutionCount: 1n,
    grantTotalSpent: 300_000n,
    grantPeriodStart: openedAt,
    grantPeriodSpent: 300_000n,
    feeLamports: 0,
    spenderLendsEscrow: false,
    exposureWindowStart: openedAt,
    exposureOpened: 300_000n,
    deposit: PublicKey.default,
    serviceFee: 0n,
  };
}

function settled(open: EventData<'ExecutionOpened'>, payout: PublicKey): Printed {
  return print('SettleExecution', 'ExecutionSettled', {
    record: open.record,
    executionId: open.executionId,
    listing: open.listing,
    resultHash: randomBytes(32),
    creatorAmount: 297_000n,
    platformAmount: 3_000n,
    feeBps: 100,
    feeWaived: false,
    executionTimeMs: 1_234,
    settledAt: open.openedAt + 2n,
    payout,
    gasTo: open.rentSponsor,
    gasLamports: 15_000,
    gasReturned: 0,
  });
}

function print<Name extends EventName>(instruction: string, name: Name, data: EventData<Name>): Printed {
  const { discriminator } = idl.events.find((event) => event.name === name)!;
  return {
    instruction,
    data: Buffer.concat([Buffer.from(discriminator), codecOf(name).write(data)]).toString('base64'),
  };
}

/** The logs that a node reports for such a transaction. */
function logsOf(instruction: string, data: string): string[] {
  return [
    `Program ${BUDGET} invoke [1]`,
    `Program ${BUDGET} success`,
    `Program ${OURS} invoke [1]`,
    `Program log: Instruction: ${instruction}`,
    `Program ${TOKEN} invoke [2]`,
    'Program log: Instruction: TransferChecked',
    `Program ${TOKEN} consumed 6239 of 180000 compute units`,
    `Program ${TOKEN} success`,
    `Program data: ${data}`,
    `Program ${OURS} consumed 60000 of 200000 compute units`,
    `Program ${OURS} success`,
  ];
}

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Same length and letters as a signature. A database sees no other difference. */
function randomSignature(): string {
  let text = '';
  for (const byte of randomBytes(88)) text += LETTERS[byte % LETTERS.length];
  return text;
}
