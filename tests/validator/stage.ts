/** Agave's own validator with the program from genesis, and `npm start` on it, as for a newcomer. */
import { join } from 'node:path';
import type { PublicKey } from '@solana/web3.js';
import { loadIdentities } from '../../app/local/identities.ts';
import { PROGRAM_ARTIFACT } from '../../app/local/network.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { startValidator, type ValidatorOptions } from '../harness/node/validator.ts';
import { TEST_VERIFIER_ID, VERIFIER_BINARY } from '../harness/vm/verifier.ts';
import { createVisitor, type Visitor } from '../journey/visitor.ts';
import { ROOT, type Start, startNetwork, untilGone } from '../local/start.ts';

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Starts the validator. `start` then starts the network. */
export async function startStage(dataDir: string, options: Omit<ValidatorOptions, 'programs'> = {}) {
  const demoDir = join(dataDir, 'demo');
  const identities = loadIdentities(demoDir);
  const authority = join(demoDir, 'admin.json');
  const program = (programId: PublicKey, soPath: string) => ({ programId, soPath, authority });
  const validator = await startValidator({
    ...options,
    programs: [program(PROGRAM_ID, PROGRAM_ARTIFACT), program(TEST_VERIFIER_ID, join(ROOT, VERIFIER_BINARY))],
  });
  let network: Start;
  let visitor: Visitor;
  return {
    dataDir,
    demoDir,
    identities,
    validator,
    visit: () => visitor,
    async start(): Promise<void> {
      network = startNetwork(dataDir, { env: { SOLANA_RPC_URL: validator.rpcUrl, SOLANA_WS_URL: validator.wsUrl } });
      visitor = createVisitor(await network.ready, dataDir);
    },
    /** Ends the network, by default as Ctrl-C does. */
    async end(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
      network.signalGroup(signal);
      await untilGone(network);
    },
    stop: () => validator.remove(),
  };
}
