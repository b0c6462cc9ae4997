/** The gate for new executions, and two that close it: the fee payer's runway, and the watch over the cluster. */
import { expect } from 'chai';
import type { ApiError } from '../../../app/relay/errors.ts';
import type { Engine } from '../../../app/relay/execution/contract.ts';
import { createLog } from '../../../app/relay/log.ts';
import { type ChainWatch, createChainWatch } from '../../../app/relay/operation/chainWatch.ts';
import { createGate, type Gate, type Obstacle } from '../../../app/relay/operation/gate.ts';
import { createRunway } from '../../../app/relay/operation/runway.ts';
import { PROBLEMS, type Problem } from '../../../app/sdk/wire/wire.ts';
import { FAST } from '../../../app/solana/finality.ts';
import { EPOCH } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { useTables } from '../../harness/tables.ts';

const HOUR_MS = 3_600_000;
const SOL = 1_000_000_000;
/** The other two are found by readiness, which asks the node and the index. */
const isObstacle = (problem: Problem): problem is Obstacle =>
  problem !== 'chain_unreachable' && problem !== 'index_behind';

describe('the gate', () => {
  function behindGate() {
    const gate = createGate();
    let begun = 0;
    const outcome = async () => {
      begun += 1;
      return { kind: 'pending', executionId: 'x' } as const;
    };
    const engine: Engine = { execute: outcome, buy: outcome, start: outcome, outcomeOf: outcome, inFlight: () => 7 };
    const guarded = gate.guard(engine);
    const calls = [
      () => guarded.execute({} as never, {} as never, {} as never),
      () => guarded.buy({} as never, {} as never),
      () => guarded.start({} as never, {} as never),
    ];
    const requireRefused = async () => {
      for (const call of calls) {
        const refusal = (await call().catch((error) => error)) as ApiError;
        expect(refusal).to.include({ code: 'service_unavailable' });
      }
    };
    return { gate, guarded, calls, requireRefused, begun: () => begun };
  }

  it('is closed until the ledger has been compared with the chain, and for each obstacle alone', async () => {
    const { gate, guarded, calls, requireRefused, begun } = behindGate();
    expect(await calls[0]!().catch((error) => error)).to.include({ retryAfterSeconds: 5 });
    for (const obstacle of ['ledger_unreconciled', 'authority_changed', 'fees_low', 'stopping'] as Obstacle[]) {
      gate.set(obstacle, true);
      gate.set(obstacle, true);
      expect(gate.obstacles()).to.deep.equal([obstacle]);
      await requireRefused();
      expect(begun()).to.equal(0);
      expect(guarded.inFlight()).to.equal(7);
      gate.set(obstacle, false);
      expect(gate.obstacles()).to.deep.equal([]);
    }
    gate.set('fees_low', true);
    expect((await guarded.outcomeOf('x')).kind).to.equal('pending');
    gate.set('fees_low', false);
    for (const call of calls) expect((await call()).kind).to.equal('pending');
    expect(begun()).to.equal(4);
  });

  it('names the action a person must take for each obstacle, and nothing once it is gone', () => {
    const { gate } = behindGate();
    gate.set('fees_low', true, 'Send SOL.');
    expect(gate.advice()).to.deep.equal(['Send SOL.']);
    gate.set('fees_low', false, 'Send SOL.');
    expect(gate.advice()).to.deep.equal([]);
    const endByThemselves: Obstacle[] = ['ledger_unreconciled', 'stopping'];
    for (const obstacle of PROBLEMS.filter(isObstacle)) {
      gate.set(obstacle, true);
      expect(gate.advice(), obstacle).to.have.length(endByThemselves.includes(obstacle) ? 0 : 1);
      gate.set(obstacle, false);
    }
  });

  it('reports an announced obstacle, and closes only when it is present', async () => {
    const { gate, calls, requireRefused, begun } = behindGate();
    gate.set('ledger_unreconciled', false);
    gate.announce('stopping');
    expect(gate.obstacles()).to.deep.equal(['stopping']);
    for (const call of calls) expect((await call()).kind).to.equal('pending');
    expect(begun()).to.equal(3);
    gate.set('stopping', true);
    expect(gate.obstacles()).to.deep.equal(['stopping']);
    await requireRefused();
    expect(begun()).to.equal(3);
  });

  it('allows the start of an opened execution while opens are paused', async () => {
    const { gate, guarded, begun } = behindGate();
    gate.set('ledger_unreconciled', false);
    gate.set('opens_paused', true);
    expect(await guarded.execute({} as never, {} as never, {} as never).catch((error) => error)).to.include({
      code: 'service_unavailable',
      message: 'The marketplace’s admin or guardian has paused new calls. Calls in progress go on.',
    });
    expect((await guarded.start({} as never, {} as never)).kind).to.equal('pending');
    expect(begun()).to.equal(1);
  });
});

describe('the runway', () => {
  function stand(minLamports = 0) {
    const limits = { minHours: 2, minLamports, pollSeconds: 30 };
    const state = { lamports: (10 * SOL) as number | Error, at: 0, isLow: false, missing: 0 };
    const runway = createRunway({
      async readBalance() {
        if (state.lamports instanceof Error) throw state.lamports;
        return state.lamports;
      },
      limits,
      whose: 'relay authority',
      refuses: 'new executions',
      onChange(missing) {
        Object.assign(state, { missing, isLow: missing > 0 });
      },
      log: createLog('silent'),
      now: () => state.at,
    });
    /** A reading of the balance, after these lamports were spent on fees. */
    const poll = async (at: number, lamports: number, spent = 0) => {
      Object.assign(state, { at, lamports });
      runway.spend(BigInt(spent));
      await runway.poll();
      return runway.status();
    };
    return { runway, poll, state };
  }

  /** Readings: hours since the first, the balance and what was spent since the last one in SOL, and the runway then. */
  const READINGS: Record<string, [at: number, balance: number, spent: number, hours: number | null][]> = {
    'unlimited while nothing is spent, whatever is lent or comes back': [
      [0, 10, 0, null],
      [0.5, 2, 0, null],
      [1, 20, 0, null],
    ],
    'the balance divided by the fees of an hour, and unlimited if callers paid more than their calls cost': [
      [0, 10, 0, null],
      [1, 20, 1, 20],
      [2, 9, -1, null],
    ],
    'by a full hour in the first minutes': [
      [0, 10, 0, null],
      [1 / 60, 9, 1, 9],
    ],
    'without what was spent long ago': [
      [0, 10, 0, null],
      [1, 5, 5, 1],
      [6, 5, 0, 6],
      [8, 5, 0, null],
    ],
  };
  for (const [name, readings] of Object.entries(READINGS)) {
    it(`is ${name}`, async () => {
      const { poll } = stand();
      for (const [at, balance, spent, hours] of readings) {
        const status = await poll(at * HOUR_MS, balance * SOL, spent * SOL);
        expect(status).to.deep.equal({ lamports: balance * SOL, hours });
      }
    });
  }

  it('is too short below either limit, and sufficient again after a top-up', async () => {
    const { poll, state } = stand(SOL);
    await poll(0, 5 * SOL);
    await poll(HOUR_MS, 3.4 * SOL, 1.6 * SOL);
    expect(state.isLow).to.equal(false);
    expect((await poll(2 * HOUR_MS, 2.6 * SOL, 0.8 * SOL)).hours).to.be.closeTo(2.17, 0.01);
    expect((await poll(2.1 * HOUR_MS, 2.3 * SOL, 0.3 * SOL)).hours).to.be.lessThan(2);
    expect(state.isLow).to.equal(true);
    // 2.7 SOL were spent in 2.1 hours, and the balance must last two hours.
    expect(state.missing).to.be.closeTo(((2.7 * 2) / 2.1 - 2.3) * SOL, 1);
    await poll(2.2 * HOUR_MS, 10 * SOL);
    expect(state.isLow).to.equal(false);
    await poll(9 * HOUR_MS, 10 * SOL);
    expect((await poll(18 * HOUR_MS, 0.99 * SOL)).lamports).to.equal(0.99 * SOL);
    expect(state.missing).to.equal(0.01 * SOL);
  });

  it('keeps its last value when the node does not answer', async () => {
    const { runway, poll, state } = stand();
    expect(runway.status()).to.deep.equal({ lamports: null, hours: null });
    await poll(0, 5);
    state.lamports = new Error('no answer');
    expect(await runway.poll().catch((error: Error) => error.message)).to.equal('no answer');
    expect(runway.status()).to.deep.equal({ lamports: 5, hours: null });
  });
});

describe('the watch over the cluster', () => {
  const NEVER = new Promise<never>(() => undefined);
  const tables = useTables();
  let gate: Gate;
  let watch: ChainWatch;
  let nowMs: number;
  beforeEach(() => {
    gate = createGate();
    nowMs = EPOCH * 1_000;
  });
  afterEach(() => watch.end());

  function create(chain: { read(): Promise<unknown>; readAgreed(): Promise<unknown> }) {
    watch = createChainWatch({
      chain: { ...chain, finality: FAST } as never,
      ledger: tables.ledger.db,
      gate,
      readIndexRestart: async () => null,
      compare: async () => false,
      now: () => nowMs,
      aheadMs: () => 0,
      log: createLog('silent'),
    });
  }
  const at = (seconds: number) => ({ accounts: [null], now: BigInt(seconds), slot: 1 });

  it('takes calls while one of two nodes lags and the other shows the present', async () => {
    create({ read: async () => at(EPOCH), readAgreed: async () => at(EPOCH - 20) });
    await watch.poll();
    expect(gate.obstacles()).to.deep.equal(['ledger_unreconciled']);
  });

  it('refuses calls once the last clock is old, also while the nodes do not answer', async () => {
    let hangs = false;
    create({ read: async () => (hangs ? NEVER : at(EPOCH)), readAgreed: async () => (hangs ? NEVER : at(EPOCH)) });
    await watch.poll();
    hangs = true;
    watch.start();
    nowMs += 16_000;
    await until('it is behind', async () => gate.obstacles().includes('chain_behind'));
    hangs = false;
  });
});
