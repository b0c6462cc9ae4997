/**
 * A short story on a slow cluster: Agave's own validator without Alpenglow, and without the features that mainnet lacks.
 */
import { expect } from 'chai';
import { inactiveFeatures, NEEDED_FEATURES } from '../../app/solana/features.ts';
import { findValidator, NO_VALIDATOR, PENDING_ON_MAINNET } from '../harness/node/validator.ts';
import type { Balances, Visitor } from '../journey/visitor.ts';
import { cleanUp, newDirectory } from '../local/start.ts';
import { tellOfArguments } from './runtime.ts';
import { type Stage, startStage } from './stage.ts';

const SANDBOX_PRICE = 10_000n;

describe('a slow cluster', function () {
  // Each step depends on the one before it.
  this.bail(true);
  this.timeout(900_000);
  const dataDir = newDirectory();
  let stage: Stage;
  const visit = (): Visitor => stage.visit();

  before(async function () {
    if (findValidator() === null) {
      console.log(`    ${NO_VALIDATOR}`);
      return this.skip();
    }
    stage = await startStage(dataDir, { isSlow: true, deactivate: Object.values(PENDING_ON_MAINNET) });
    await stage.start();
  });
  after(async () => {
    cleanUp();
    await stage?.stop();
  });

  tellOfArguments(() => stage);

  it('has the features that the program needs, and not the one that mainnet lacks', async () => {
    const pending = { key: PENDING_ON_MAINNET.virtualAddressSpaceAdjustments, name: 'SIMD-0460', reason: '' };
    const { connection } = stage.validator;
    expect(await inactiveFeatures(connection, [pending, ...NEEDED_FEATURES])).to.deep.equal([pending]);
  });

  it('is named by the relay, which takes no payments by x402 there', async () => {
    const { agent, send } = visit();
    expect(JSON.stringify((await send('/ready', null)).body.advice)).to.include('this cluster has no Alpenglow');
    const path = `/v1/x402/agents/${agent('sandbox-echo').agent_id}/execute`;
    const { status, body } = await send(path, null, { task: 'slowly' });
    expect(status).to.equal(404);
    expect(body.error.message).to.include('takes 14 s to finalize a block');
  });

  it('pays a call and refunds another one at the same time, to the unit', async () => {
    const { balances, execute, assertPaid } = visit();
    const before: Balances = await balances();
    const [paid, refunded] = await Promise.all([
      execute('sandbox-echo', { task: 'slowly' }),
      execute('sandbox-wrong-hash', { task: 'slowly' }),
    ]);
    expect([paid.status, paid.body.result]).to.deep.equal([200, 'slowly']);
    expect([refunded.status, refunded.body.error.code]).to.deep.equal([500, 'execution_failed']);
    assertPaid(before, await balances(), 'sandbox-echo', SANDBOX_PRICE);
  });
});
