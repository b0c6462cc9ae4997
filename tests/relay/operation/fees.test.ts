/** Priority fees, from the answers of a plain node and of Helius. main.test.ts has whole calls through either. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ComputeBudgetProgram, Connection, Keypair, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { createFees, recentPrice } from '../../../app/relay/chain/fees.ts';
import { readConfig } from '../../../app/relay/config.ts';
import { idl, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { heliusPrice } from '../../../app/solana/helius.ts';
import { useFolder } from '../../harness/folder.ts';
import { type Recorded, startHeliusFront } from '../../harness/node/heliusFront.ts';

const API_KEY = '11111111-2222-3333-4444-555555555555';
const log = pino({ level: 'silent' });
/** More than any cap. */
const UNBOUNDED = 10n ** 12n;

const fronts: Awaited<ReturnType<typeof startHeliusFront>>[] = [];
after(() => {
  for (const front of fronts) front.stop();
});
async function front(recorded: Recorded) {
  const started = await startHeliusFront(recorded);
  fronts.push(started);
  return started;
}

/** A simulation result as nodes answer it. */
const simulated = (unitsConsumed: number, err: unknown = null) => ({
  context: { apiVersion: '3.1.0', slot: 7 },
  value: { accounts: null, err, innerInstructions: null, logs: [], returnData: null, unitsConsumed },
});

describe('the price of priority', () => {
  const payer = Keypair.generate();
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 });
  function ours(name: string): TransactionInstruction {
    const { discriminator } = idl.instructions.find((one) => one.name === name)!;
    return new TransactionInstruction({ programId: PROGRAM_ID, keys: [], data: Buffer.from(discriminator) });
  }
  const [open, refund] = [ours('open_execution_with_grant'), ours('refund_execution')];
  const allocate = SystemProgram.allocate({ accountPubkey: payer.publicKey, space: 1 });

  async function stand(options: {
    price: bigint | Error;
    minPrice?: bigint;
    maxLamports?: bigint;
    units?: () => unknown;
  }) {
    const { baseUrl, calls } = await front({ simulateTransaction: options.units ?? (() => simulated(50_000)) });
    const state = { price: options.price, now: 0 };
    const fees = createFees({
      connection: new Connection(baseUrl, 'confirmed'),
      payer: payer.publicKey,
      source: async () => {
        if (state.price instanceof Error) throw state.price;
        return state.price;
      },
      minPrice: options.minPrice ?? 0n,
      maxLamports: options.maxLamports ?? 1_000_000n,
      now: () => state.now,
      log,
    });
    await fees.refresh();
    return { fees, state, calls };
  }

  /** The compute units and micro-lamports per unit that the instructions set; the price is 0 where none is set. */
  function read(instructions: TransactionInstruction[]): [units: number, price: bigint] {
    const [limit, price] = instructions;
    for (const one of instructions) expect(one.programId.equals(ComputeBudgetProgram.programId)).to.equal(true);
    expect(instructions.map(({ data }) => data[0])).to.deep.equal(price ? [2, 3] : [2]);
    return [limit!.data.readUInt32LE(1), price?.data.readBigUInt64LE(1) ?? 0n];
  }

  it('is zero when nobody pays or when it is switched off, and the limit is still set', async () => {
    const free = await stand({ price: 0n });
    expect(read(await free.fees.instructionsFor([transfer], 0, UNBOUNDED))).to.deep.equal([80_000, 0n]);
    const off = await stand({ price: 5_000n, minPrice: 9_000n, maxLamports: 0n });
    expect(read(await off.fees.instructionsFor([transfer], 0, UNBOUNDED))).to.deep.equal([80_000, 0n]);
    expect(read(await off.fees.instructionsFor([transfer], 3, UNBOUNDED))).to.deep.equal([320_000, 0n]);
    expect(off.fees.quote()).to.deep.equal({ open: 0n, settle: 0n });
    const poor = await stand({ price: 5_000n });
    expect(read(await poor.fees.instructionsFor([transfer], 0, 0n))).to.deep.equal([80_000, 0n]);
  });

  it('has a minimum, and follows the market above it', async () => {
    const { fees, state } = await stand({ price: 3_000n, minPrice: 10_000n });
    expect(read(await fees.instructionsFor([open], 0, UNBOUNDED))).to.deep.equal([100_000, 10_000n]);
    expect(fees.quote()).to.deep.equal({ open: 1_000n, settle: 4_000n });
    state.price = 20_000n;
    await fees.refresh();
    expect(read(await fees.instructionsFor([open], 0, UNBOUNDED))).to.deep.equal([100_000, 20_000n]);
    expect(fees.quote()).to.deep.equal({ open: 2_000n, settle: 8_000n });
  });

  it('of a shared transaction counts the cap once for each call, and never exceeds what was collected', async () => {
    const { fees } = await stand({ price: 1_000_000n, maxLamports: 50_000n });
    expect(fees.budgetOf(100_000, 4, UNBOUNDED)).to.deep.equal({ units: 200_000, priority: 200_000n });
    expect(fees.budgetOf(100_000, 4, 1_000n)).to.deep.equal({ units: 200_000, priority: 1_000n });
    expect(fees.budgetOf(1_000_000, 8, UNBOUNDED)).to.deep.equal({ units: 1_360_000, priority: 400_000n });
    expect(fees.budgetOf(1_400_000, 8, 0n)).to.deep.equal({ units: 1_400_000, priority: 0n });
  });

  it('doubles while transactions are late, at most once in 2.5 seconds, and falls again afterwards', async () => {
    const { fees, state } = await stand({ price: 2_000n });
    const price = async () => read(await fees.instructionsFor([open], 0, UNBOUNDED))[1];
    const seen: bigint[] = [];
    for (const [pace, ms] of [
      ['late', 0],
      ['late', 2_499],
      ['late', 1],
      ['inTime', 2_499],
      ['inTime', 1],
      ['inTime', 2_500],
      ['inTime', 2_500],
    ] as const) {
      state.now += ms;
      fees.pace[pace]();
      seen.push(await price());
    }
    expect(seen).to.deep.equal([4_000n, 4_000n, 8_000n, 8_000n, 4_000n, 2_000n, 2_000n]);
    for (let turn = 0; turn < 20; turn += 1) {
      state.now += 2_500;
      fees.pace.late();
    }
    expect(await price()).to.equal(2_000n << 6n);
    expect(read(await fees.instructionsFor([open], 0, 1_000n))).to.deep.equal([100_000, 10_000n]);
  });

  it('uses a unit limit from simulation, measured once for calls and each time for refunds and what varies', async () => {
    const units = [50_000, 28_000, 100_000, 1_000, 2_000, 3_000, 40_000];
    const { fees, calls } = await stand({ price: 2_000n, units: () => simulated(units.shift()!) });
    const unitsOf = async (...instructions: TransactionInstruction[]) =>
      read(await fees.instructionsFor(instructions, 0, UNBOUNDED))[0];
    expect([await unitsOf(open), await unitsOf(open)]).to.deep.equal([100_000, 100_000]);
    // A refund whose caller closed the grant needs many more units than the last one.
    expect([await unitsOf(refund), await unitsOf(refund)]).to.deep.equal([53_600, 140_000]);
    expect([await unitsOf(allocate, allocate), await unitsOf(allocate, allocate)]).to.deep.equal([21_200, 22_400]);
    // Each of two at a time has its own limit.
    const both = [unitsOf(allocate, allocate), unitsOf(allocate, allocate)];
    expect(await Promise.all(both)).to.have.members([23_600, 68_000]);
    expect(calls.map(({ method }) => method)).to.deep.equal(Array(7).fill('simulateTransaction'));
  });

  it('leaves an open enough units when two addresses need more attempts than in the measurement', async () => {
    const [trialUnits, leastOpenUnits] = [1_500, 20_000];
    const { fees } = await stand({ price: 0n, units: () => simulated(leastOpenUnits) });
    const [limit] = read(await fees.instructionsFor([open], 0, UNBOUNDED));
    expect((limit - leastOpenUnits) / trialUnits).to.be.at.least(29);
  });

  it('uses a generous limit when the simulation fails, and measures again next time', async () => {
    const answers = [simulated(300, { InstructionError: [1, { Custom: 1 }] }), new Error('busy'), simulated(10_000)];
    const { fees, calls } = await stand({ price: 1n, units: () => answers.shift() });
    expect(read(await fees.instructionsFor([open], 0, UNBOUNDED))).to.deep.equal([400_000, 1n]);
    expect(read(await fees.instructionsFor([open], 0, UNBOUNDED))).to.deep.equal([400_000, 1n]);
    expect(read(await fees.instructionsFor([open], 0, UNBOUNDED))).to.deep.equal([52_000, 1n]);
    expect(calls.length).to.equal(3);
  });

  it('doubles with each attempt, also from zero, and never exceeds the maximum', async () => {
    const { fees, state } = await stand({ price: 3_000n, maxLamports: 1_000n });
    const attempts = async () =>
      Promise.all(
        [0, 1, 2, 5].map(async (attempt) => read(await fees.instructionsFor([transfer], attempt, UNBOUNDED))),
      );
    expect(await attempts()).to.deep.equal([
      [80_000, 3_000n],
      [160_000, 6_000n],
      [240_000, 4_166n],
      [480_000, 2_083n],
    ]);
    for (const attempt of [0, 1, 2, 5, 40]) {
      const [units, price] = read(await fees.instructionsFor([transfer], attempt, UNBOUNDED))!;
      expect(Number(price) * units, String(attempt)).to.be.at.most(1_000 * 1e6);
    }
    state.price = 0n;
    await fees.refresh();
    expect(read(await fees.instructionsFor([transfer], 0, UNBOUNDED))).to.deep.equal([80_000, 0n]);
    expect(read(await fees.instructionsFor([transfer], 1, UNBOUNDED))).to.deep.equal([160_000, 2_000n]);
  });

  it('stays unchanged while the source does not answer', async () => {
    const { fees, state } = await stand({ price: 7n });
    state.price = new Error('no answer');
    expect(await fees.refresh().catch((error: Error) => error.message)).to.equal('no answer');
    expect(read(await fees.instructionsFor([transfer], 0, UNBOUNDED))).to.deep.equal([80_000, 7n]);
  });

  it('is, for a plain node, the price paid in three of four recent slots for the accounts we write', async () => {
    const recorded = [0, 900, 100, 0, 400, 200, 300, 0].map((fee, at) => ({ slot: 100 + at, prioritizationFee: fee }));
    const { baseUrl, calls } = await front({ getRecentPrioritizationFees: () => recorded });
    const connection = new Connection(baseUrl, 'confirmed');
    expect(await recentPrice(connection, [payer.publicKey])()).to.equal(400n);
    expect(calls[0]!.params).to.deep.equal([[payer.publicKey.toBase58()]]);
    recorded.length = 0;
    expect(await recentPrice(connection, [payer.publicKey])()).to.equal(0n);
  });
});

describe('Helius', () => {
  const folder = useFolder('helius');

  it('is called for its recommendation with the key in the address', async () => {
    const { baseUrl, calls } = await front({ getPriorityFeeEstimate: () => ({ priorityFeeEstimate: 10_082.4 }) });
    const price = heliusPrice({ apiKey: API_KEY, baseUrl }, ['one', 'two']);
    expect(await price()).to.equal(10_083n);
    const params = [{ accountKeys: ['one', 'two'], options: { recommended: true } }];
    expect(calls).to.deep.equal([{ url: `/?api-key=${API_KEY}`, method: 'getPriorityFeeEstimate', params }]);
  });

  it('gives no price when it refuses or returns no estimate', async () => {
    for (const answer of [
      new Error('invalid api key'),
      {},
      { priorityFeeEstimate: null },
      { priorityFeeEstimate: -1 },
    ]) {
      const { baseUrl } = await front({ getPriorityFeeEstimate: () => answer });
      const refusal = await heliusPrice({ apiKey: API_KEY, baseUrl }, [])().catch((error: Error) => error);
      expect(refusal, JSON.stringify(answer)).to.be.instanceOf(Error);
    }
  });

  it('is off without a key, and used for the environment of its key', () => {
    const keyFile = join(folder, 'relay-authority.json');
    writeFileSync(keyFile, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 });
    const env = { RELAY_KEYPAIR: keyFile };
    expect(readConfig(env)).to.include({
      helius: null,
      rpcUrl: 'http://127.0.0.1:8899',
      maxPriorityFeeLamports: 100_000n,
      minPriorityFee: 0n,
    });
    expect(readConfig({ ...env, ENVIRONMENT: 'live' }).minPriorityFee).to.equal(10_000n);
    const test = readConfig({ ...env, HELIUS_API_KEY: 'k' });
    expect(test.rpcUrl).to.equal('https://devnet.helius-rpc.com/?api-key=k');
    const live = readConfig({ ...env, HELIUS_API_KEY: 'k', ENVIRONMENT: 'live' });
    expect(live.wsUrl).to.equal('wss://mainnet.helius-rpc.com/?api-key=k');
    expect(live.publicRpcUrl).to.not.include('api-key');
  });
});
