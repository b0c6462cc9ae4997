/** `npm start` on Agave's own validator, as for a newcomer, with a WebSocket that can be cut and processes to kill. */
import { join } from 'node:path';
import type { PublicKey } from '@solana/web3.js';
import { loadIdentities } from '../../app/local/identities.ts';
import { PROGRAM_ARTIFACT } from '../../app/local/network.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { startProxy } from '../harness/edge/proxy.ts';
import { startValidator } from '../harness/node/validator.ts';
import { TEST_VERIFIER_ID, VERIFIER_BINARY } from '../harness/vm/verifier.ts';
import { createVisitor, type Visitor } from '../journey/visitor.ts';
import { ROOT, type Start, startNetwork, untilGone } from '../local/start.ts';

/** In shreds; enough for the whole history. */
const LEDGER_SIZE = 100_000_000;
/** Within one epoch, the validator can warp by millions of slots, which are days of its clock. */
const SLOTS_PER_EPOCH = 34_560_000;

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Starts a validator with the program from genesis, and the network on it. */
export async function startStage(dataDir: string, deactivate: readonly string[]) {
  const demoDir = join(dataDir, 'demo');
  const identities = loadIdentities(demoDir);
  const authority = join(demoDir, 'admin.json');
  const program = (programId: PublicKey, soPath: string) => ({ programId, soPath, authority });
  const validator = await startValidator({
    deactivate,
    programs: [program(PROGRAM_ID, PROGRAM_ARTIFACT), program(TEST_VERIFIER_ID, join(ROOT, VERIFIER_BINARY))],
    limitLedgerSize: LEDGER_SIZE,
    slotsPerEpoch: SLOTS_PER_EPOCH,
  });
  const socket = await startProxy(validator.wsUrl);
  let network: Start;
  let visitor: Visitor;
  async function start(): Promise<void> {
    network = startNetwork(dataDir, { env: { SOLANA_RPC_URL: validator.rpcUrl, SOLANA_WS_URL: socket.url } });
    visitor = createVisitor(await network.ready, dataDir);
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    network.signalGroup(signal);
    await untilGone(network);
  }
  await start();
  return {
    dataDir,
    demoDir,
    identities,
    validator,
    socket,
    visit: () => visitor,
    start,
    end,
    async stop() {
      await socket.close();
      await validator.remove();
    },
  };
}
