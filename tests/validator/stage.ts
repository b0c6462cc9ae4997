/** A validator, and `npm start` on it, as for a newcomer. */
import { join } from 'node:path';
import { loadIdentities } from '../../app/local/identities.ts';
import type { Validator } from '../harness/node/validator.ts';
import { createVisitor, type Visitor } from '../journey/visitor.ts';
import { type Start, untilGone } from '../local/start.ts';

export type Stage = ReturnType<typeof createStage>;

/** `begin` starts the network, when `start` is called. */
export function createStage(
  dataDir: string,
  validator: Pick<Validator, 'rpcUrl' | 'wsUrl' | 'connection'>,
  begin: () => Start,
) {
  const demoDir = join(dataDir, 'demo');
  let network: Start;
  let visitor: Visitor;
  return {
    dataDir,
    demoDir,
    identities: loadIdentities(demoDir),
    validator,
    visit: () => visitor,
    async start(): Promise<void> {
      network = begin();
      visitor = createVisitor(await network.ready, dataDir);
    },
    /** Ends the network, by default as Ctrl-C does. */
    async end(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
      network.signalGroup(signal);
      await untilGone(network);
    },
  };
}
