import { expect } from 'chai';
import { createLog } from '../../../app/relay/log.ts';
import { type ChainWatch, createChainWatch } from '../../../app/relay/operation/chainWatch.ts';
import { createGate, type Gate } from '../../../app/relay/operation/gate.ts';
import { FAST } from '../../../app/solana/finality.ts';
import { EPOCH } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { useTables } from '../../harness/tables.ts';

type Options = Parameters<typeof createChainWatch>[0];
const NEVER = new Promise<never>(() => undefined);

describe('the watch over the cluster', () => {
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
      chain: { ...chain, finality: FAST } as unknown as Options['chain'],
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
