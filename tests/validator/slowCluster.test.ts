/**
 * A short story on a slow cluster: Agave's own validator without Alpenglow, and without the features that mainnet lacks.
 * Only there a restart can move the clock, so the windows of three days close here.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { loadIdentities } from '../../app/local/identities.ts';
import { PROGRAM_ARTIFACT } from '../../app/local/network.ts';
import { CLOCK_ADDRESS, decodeClock } from '../../app/sdk/program/clock.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { inactiveFeatures, NEEDED_FEATURES } from '../../app/solana/features.ts';
import { cli, runHere } from '../cli/run.ts';
import { until } from '../harness/edge/until.ts';
import {
  findValidator,
  NO_VALIDATOR,
  PENDING_ON_MAINNET,
  startValidator,
  type Validator,
} from '../harness/node/validator.ts';
import { TEST_VERIFIER_ID, VERIFIER_BINARY } from '../harness/vm/verifier.ts';
import type { Balances, Visitor } from '../journey/visitor.ts';
import { cleanUp, newDirectory, ROOT, startNetwork } from '../local/start.ts';
import { tellOfArguments } from './runtime.ts';
import { createStage, type Stage } from './stage.ts';

const SANDBOX_PRICE = 10_000n;
/** More than three days of slots of 400 ms. */
const WARP_SLOTS = 700_000;
const FEE = 5_000;
/** How long a person waits while there is progress. */
const PATIENCE_MS = 120_000;

interface Row {
  execution_id: string;
  status: string;
  completed_at: string;
}

describe('a slow cluster', function () {
  // Each step depends on the one before it.
  this.bail(true);
  this.timeout(900_000);
  const dataDir = newDirectory();
  let validator: Validator;
  let stage: Stage;
  const visit = (): Visitor => stage.visit();
  const now = async (): Promise<number> => {
    const account = await validator.connection.getAccountInfo(CLOCK_ADDRESS, 'confirmed');
    return Number(decodeClock(account!.data));
  };

  before(async function () {
    if (findValidator() === null) {
      console.log(`    ${NO_VALIDATOR}`);
      return this.skip();
    }
    const authority = join(dataDir, 'demo', 'admin.json');
    loadIdentities(join(dataDir, 'demo'));
    validator = await startValidator({
      isSlow: true,
      deactivate: Object.values(PENDING_ON_MAINNET),
      programs: [
        { programId: PROGRAM_ID, soPath: PROGRAM_ARTIFACT, authority },
        { programId: TEST_VERIFIER_ID, soPath: join(ROOT, VERIFIER_BINARY), authority },
      ],
    });
    const env = { SOLANA_RPC_URL: validator.rpcUrl, SOLANA_WS_URL: validator.wsUrl };
    stage = createStage(dataDir, validator, () => startNetwork(dataDir, { env }));
    await stage.start();
  });
  after(async () => {
    cleanUp();
    await validator?.remove();
  });

  tellOfArguments(() => validator);

  it('has the features that the program needs, and not the one that mainnet lacks', async () => {
    const pending = { key: PENDING_ON_MAINNET.virtualAddressSpaceAdjustments, name: 'SIMD-0460', reason: '' };
    const { connection } = validator;
    expect(await inactiveFeatures(connection, [pending, ...NEEDED_FEATURES])).to.deep.equal([pending]);
  });

  describe('calls and three days', () => {
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

    it('lets a stranger refund a call whose relay is gone for three days', async () => {
      const { connection } = validator;
      const stranger = Keypair.generate();
      const keypair = join(dataDir, 'stranger.json');
      writeFileSync(keypair, JSON.stringify([...stranger.secretKey]));
      const funding = await connection.requestAirdrop(stranger.publicKey, 1e9);
      await connection.confirmTransaction({ signature: funding, ...(await connection.getLatestBlockhash()) });

      const before = await visit().balances();
      const task = { task: 'left alone', parameters: { seconds: 25 }, timeout_seconds: 30, async: true };
      const id = (await visit().execute('sandbox-slow', task)).body.execution_id;
      await until('its price is in escrow', () => visit().escrowExists(id));
      await stage.end('SIGKILL');
      const began = await now();
      await validator.warp(WARP_SLOTS);
      expect((await now()) - began).to.be.greaterThan(74 * 3_600);

      const refund = ['execution', 'refund', id, '--keypair', keypair, '--rpc-url', validator.rpcUrl];
      const { code, stderr } = await cli(refund, { DATA_DIR: join(dataDir, 'nowhere') });
      expect(code, stderr).to.equal(0);
      expect(await visit().balances()).to.deep.equal(before);
      expect(await visit().escrowExists(id)).to.equal(false);
      expect(await visit().lamports(stranger.publicKey)).to.equal(BigInt(1e9 - FEE));

      await stage.start();
      await visit().sendUntil(`/v1/executions/${id}`, 0, (answer) => answer.body.status === 'failed');
      expect(await visit().balances()).to.deep.equal(before);
    });

    it('then archives each record of a paid call, with a proof that the validator alone confirms, and closes the others', async () => {
      const since = (await now()) - 3 * 86_400;
      const { executions } = (await visit().send('/v1/executions?limit=100', 0)).body;
      const old = (executions as Row[]).filter(({ completed_at }) => Date.parse(completed_at) / 1_000 < since);
      const isThere = async () => {
        const found = await Promise.all(old.map(({ execution_id }) => visit().exists(visit().recordOf(execution_id))));
        return found.filter(Boolean).length;
      };
      await until('all of them are gone', async () => (await isThere()) === 0, PATIENCE_MS, isThere);
      // Beside the paid call, the refunded one.
      const archived = old.filter(({ status }) => status === 'completed');
      expect([old.length, archived.length]).to.deep.equal([2, 1]);
      const { demo, send, sendUntil } = visit();
      for (const { execution_id: id } of archived) {
        await sendUntil(`/v1/executions/${id}/archive`, null, ({ status }) => status === 200);
        const words = ['execution', 'show', id, '--base-url', demo.base_url, '--rpc-url', demo.rpc_url, '--json'];
        const { code, stdout, stderr } = await runHere(words);
        expect(code, stderr).to.equal(0);
        expect(JSON.parse(stdout)).to.include({ source: 'leaf', status: 'completed' });
        expect((await send(`/v1/executions/${id}`, 0)).body.status).to.equal('completed');
      }
      const rebuilt = await runHere(['archive', 'rebuild', '0', '--rpc-url', demo.rpc_url, '--json']);
      expect(rebuilt.code, rebuilt.stderr).to.equal(0);
    });
  });
});
