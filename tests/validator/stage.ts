/** `npm start` on Agave's own validator, as for a newcomer, with a WebSocket that can be cut and processes to kill. */
import { join } from 'node:path';
import type { PublicKey } from '@solana/web3.js';
import { loadIdentities } from '../../app/local/identities.ts';
import { PROGRAM_ARTIFACT } from '../../app/local/network.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { startProxy } from '../harness/edge/proxy.ts';
import { startValidator, type ValidatorOptions } from '../harness/node/validator.ts';
import { TEST_VERIFIER_ID, VERIFIER_BINARY } from '../harness/vm/verifier.ts';
import { createVisitor, type Visitor } from '../journey/visitor.ts';
import { ROOT, type Start, startNetwork, untilGone } from '../local/start.ts';

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Starts a validator with the program from genesis, and the network on it. */
export async function startStage(dataDir: string, options: Pick<ValidatorOptions, 'deactivate' | 'isSlow'> = {}) {
  const demoDir = join(dataDir, 'demo');
  const identities = loadIdentities(demoDir);
  const authority = join(demoDir, 'admin.json');
  const program = (programId: PublicKey, soPath: string) => ({ programId, soPath, authority });
  const validator = await startValidator({
    ...options,
    programs: [program(PROGRAM_ID, PROGRAM_ARTIFACT), program(TEST_VERIFIER_ID, join(ROOT, VERIFIER_BINARY))],
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
