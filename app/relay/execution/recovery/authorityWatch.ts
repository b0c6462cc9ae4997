/**
 * Detects another deployment that signs with our relay authority. Relays of one deployment share a ledger and store
 * each transaction there before they send it. A transaction of the authority that the ledger lacks therefore belongs to
 * another deployment. Each deployment would take the other's open records for orphans and refund them.
 *
 * The two share only the chain, so the watch reads the chain. Each refuses new executions until the other has been
 * silent for a while. A restored ledger looks like another deployment for the same time.
 */
import type { Logger } from 'pino';
import { type Authored, readAuthored } from '../../chain/authored.ts';
import type { RelayChain } from '../../chain/relayChain.ts';

/** Time between two checks: one call to the node, as long as nobody else signs. */
const POLL_MS = 30_000;
/** The same while another deployment keeps us from serving. */
const POLL_SOON_MS = 5_000;
/** Foreign transactions remembered, so that none is read twice. All are forgotten at once when there are more. */
const MOST_REMEMBERED = 10_000;

export type AuthorityWatch = ReturnType<typeof createAuthorityWatch>;

export function createAuthorityWatch(options: {
  chain: Pick<RelayChain, 'connection' | 'authority' | 'listOfAuthority' | 'isOwn' | 'read' | 'clock'>;
  /** True if the ledger has this transaction of an execution. */
  isInLedger(transaction: Pick<Authored, 'executionId' | 'signature'>): Promise<boolean>;
  /** How long another deployment has to be silent, seconds. 0 turns the watch off. */
  silenceSeconds: number;
  onChange(isShared: boolean): void;
  log: Logger;
}) {
  const { chain, isInLedger, onChange, log } = options;
  const silence = BigInt(options.silenceSeconds);
  const remembered = new Set<string>();
  /** The latest transaction that another deployment signed. */
  let foreign: Authored | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  /** True once all transactions were read, before the gate opens. From then on a few at a time suffice. */
  let hasReadAll = false;

  const isKnown = (signature: string) => chain.isOwn(signature) || remembered.has(signature);

  /** Checks now and resolves to `isAlone`. Throws if the node does not answer. */
  async function poll(): Promise<boolean> {
    if (silence === 0n) return true;
    // The last known clock is good enough to list by, but not to end a silence.
    const now = foreign ? (await chain.read([])).now : chain.clock();
    if (remembered.size > MOST_REMEMBERED) remembered.clear();
    let unread = await readSome(now);
    for (let isFewer = true; isFewer && !hasReadAll && foreign === null && unread > 0; ) {
      const left = await readSome(now);
      isFewer = left < unread;
      unread = left;
    }
    if (unread > 0 && foreign === null)
      log.warn({ unread }, 'not all transactions that name the relay authority were read; others follow');
    hasReadAll = true;
    if (foreign && foreign.at <= now - silence) {
      foreign = null;
      log.info('no other deployment uses this relay authority any more');
    }
    onChange(foreign !== null);
    return foreign === null;
  }

  /** Reads some unknown transactions. Returns how many are left. */
  async function readSome(now: bigint): Promise<number> {
    const { authored, others, unread } = await readAuthored(chain, now - silence, isKnown);
    for (const signature of others) remembered.add(signature);
    for (const transaction of authored) {
      const isOurs = await isInLedger(transaction);
      remembered.add(transaction.signature);
      if (isOurs || (foreign && foreign.at >= transaction.at)) continue;
      foreign = transaction;
      const { signature, executionId } = transaction;
      log.error(
        { signature, execution_id: executionId, authority: chain.authority.toBase58() },
        `another deployment signed this transaction with our relay authority; new executions are refused until it is silent for ${silence} seconds. Stop that deployment, or give it another authority`,
      );
    }
    return unread;
  }

  async function pollAgain(): Promise<void> {
    await poll().catch((error) => log.warn({ error }, 'cannot read the transactions of the relay authority'));
    if (isOver) return;
    timer = setTimeout(pollAgain, foreign ? POLL_SOON_MS : POLL_MS);
    timer.unref();
  }

  return {
    /** True if nobody else has signed lately, by the last check. */
    isAlone: (): boolean => foreign === null,
    poll,
    /** Checks repeatedly from now on. */
    start(): void {
      if (silence === 0n || isOver) return;
      timer = setTimeout(pollAgain, POLL_MS);
      timer.unref();
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
