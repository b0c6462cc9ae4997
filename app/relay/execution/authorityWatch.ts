/**
 * Whether another deployment signs with our relay authority. Relays of one deployment share a ledger, and whatever they
 * sign for an execution is in it before it is sent: a transaction that the authority has signed and that the ledger does
 * not have is somebody else's, who takes our open records for lost ones as we take theirs. Two such deployments share
 * nothing but the chain, so that is where it is looked; and each refuses until the other has been silent for a while,
 * which a ledger that was restored is after that time too.
 */
import type { Logger } from 'pino';
import { type Authored, readAuthored } from '../chain/authored.ts';
import type { RelayChain } from '../chain/relayChain.ts';

/** How often it is looked: one call to the node, as long as nobody else signs. */
const LOOK_MS = 30_000;
/** The same while it keeps us from serving. */
const LOOK_SOON_MS = 5_000;
/** Strangers' transactions that are remembered, so that none is read twice; they are forgotten all at once. */
const MOST_REMEMBERED = 10_000;

export interface AuthorityWatch {
  /** Whether nobody else has signed of late, as far as the last look tells. */
  isAlone(): boolean;
  /** Looks now; resolves to `isAlone`. Throws where the node does not answer. */
  look(): Promise<boolean>;
  /** Looks again and again from now on. */
  start(): void;
  end(): void;
}

export function createAuthorityWatch(options: {
  chain: Pick<RelayChain, 'connection' | 'authority' | 'listOfAuthority' | 'isOwn' | 'read' | 'clock'>;
  /** Whether the ledger has this transaction of an execution. */
  isInLedger(transaction: Pick<Authored, 'executionId' | 'signature'>): Promise<boolean>;
  /** How long another deployment has to be silent, seconds; 0: nobody looks for one. */
  silenceSeconds: number;
  onChange(isShared: boolean): void;
  log: Logger;
}): AuthorityWatch {
  const { chain, isInLedger, onChange, log } = options;
  const silence = BigInt(options.silenceSeconds);
  const remembered = new Set<string>();
  /** The last that somebody else has signed. */
  let foreign: Authored | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  const isKnown = (signature: string) => chain.isOwn(signature) || remembered.has(signature);

  async function look(): Promise<boolean> {
    if (silence === 0n) return true;
    // The clock as it was last read is good enough to list by, but not to end a silence.
    const now = foreign ? (await chain.read([])).now : chain.clock();
    const { authored, others } = await readAuthored(chain, now - silence, isKnown);
    if (remembered.size > MOST_REMEMBERED) remembered.clear();
    for (const signature of others) remembered.add(signature);
    for (const transaction of authored) {
      const isOurs = await isInLedger(transaction);
      remembered.add(transaction.signature);
      if (isOurs || (foreign && foreign.at >= transaction.at)) continue;
      foreign = transaction;
      const { signature, executionId } = transaction;
      log.error(
        { signature, execution_id: executionId, authority: chain.authority.toBase58() },
        `another deployment has signed this with our relay authority; nothing new is taken until it has been silent for ${silence} seconds: stop it, or give one of the two an authority of its own`,
      );
    }
    if (foreign && foreign.at <= now - silence) {
      foreign = null;
      log.info('no other deployment signs with this relay authority any more');
    }
    onChange(foreign !== null);
    return foreign === null;
  }

  async function lookAgain(): Promise<void> {
    await look().catch((error) =>
      log.warn({ error: String(error) }, 'what the relay authority signs could not be read'),
    );
    if (isOver) return;
    timer = setTimeout(lookAgain, foreign ? LOOK_SOON_MS : LOOK_MS);
    timer.unref();
  }

  return {
    isAlone: () => foreign === null,
    look,
    start() {
      if (silence === 0n || isOver) return;
      timer = setTimeout(lookAgain, LOOK_MS);
      timer.unref();
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
