/**
 * Stops each execution in a relay at a chosen point and reports it. Once all of them stand still, killing the process
 * once tests all these points. The task of an execution names its point, for example `stop at verified:before`: before
 * or after a move of the journal, or before, during (`sent`) or after the sending of one of its transactions. At
 * `shared-settle:before` and the like it stands with all that share its transaction. At other points it stands alone.
 */
import type { RelayChain } from '../../../app/relay/chain/relayChain.ts';
import type { Journal } from '../../../app/relay/ledger/journal.ts';
import { SharedConflict, type SharedMove } from '../../../app/relay/ledger/moves.ts';

type Method = (...args: unknown[]) => Promise<unknown>;

/** Moves of the journal that store a transaction, with the name of its sending. */
const SIGNS: Record<string, string> = {
  depositSigned: 'send-deposit',
  paySigned: 'send-pay',
  returning: 'send-return',
  openSigned: 'send-open',
  openSignedEarly: 'send-open',
  verified: 'send-settle',
  refunding: 'send-refund',
};

/** Moves of an open that waits for its payment's finality: no node shows the payment of such a task earlier. */
const LATE = /^(paid|openSigned):/;
/** Moves of an open that does not wait for it. */
const EARLY = /^openSignedEarly:/;

/** A task that stands still at this point. `name` distinguishes executions at the same point. */
export function stopAt(point: string, name = ''): string {
  return `stop at ${point} ${name}`.trim();
}

export function createStandstill(report: (task: string) => void) {
  const tasks = new Map<string, string>();
  const sends = new Map<string, { id: string; name: string }>();
  const standing = new Map<string, () => void>();
  const released = new Set<string>();
  /** The second point at which a released task stands still. */
  const next = new Map<string, string>();

  const pointOf = (id: string): string => /^stop at (\S+)/.exec(tasks.get(id) ?? '')?.[1] ?? '';
  const stopsAt = (points: RegExp, id: string): boolean => points.test(pointOf(id));

  /** Waits if the execution stands still at this point, until it is released. */
  async function pass(id: string, point: string): Promise<void> {
    const task = tasks.get(id) ?? '';
    if (next.get(task) === point) {
      report(`${task} at ${point}`);
      await new Promise<void>(() => undefined);
    }
    if (pointOf(id) !== point) return;
    if (released.has(task)) return;
    report(task);
    await new Promise<void>((resolve) => standing.set(task, resolve));
  }

  /** The execution id in a move's first argument, which is an id or a row. */
  function idOf(first: unknown): string | null {
    if (typeof first === 'string') return first;
    return (first as { execution_id?: string } | undefined)?.execution_id ?? null;
  }

  /** Stops calls at the write that stores a transaction which they share. */
  const intendShared =
    (journal: Journal): Journal['intendShared'] =>
    async (moves, kind, signed) => {
      const taskOf = ({ row }: SharedMove) => (row as { task?: string }).task ?? '';
      const single = moves.find((move) => /^stop at (?!shared-)/.test(taskOf(move)));
      if (single) throw new SharedConflict(single.row.execution_id, 'it goes alone');
      for (const move of moves) tasks.set(move.row.execution_id, taskOf(move));
      const passAll = (point: string) => Promise.all(moves.map(({ row }) => pass(row.execution_id, point)));
      await passAll(`shared-${kind}:before`);
      await journal.intendShared(moves, kind, signed);
      await passAll(`shared-${kind}:after`);
    };

  return {
    /** Lets a task continue; with `nextStop`, until that point, where it stands still permanently. */
    release(task: string, nextStop?: string): void {
      if (nextStop !== undefined) next.set(task, nextStop);
      released.add(task);
      standing.get(task)?.();
    },
    wrapJournal(journal: Journal): Journal {
      return new Proxy(journal, {
        get(target, name) {
          const method = Reflect.get(target, name);
          if (typeof method !== 'function' || typeof name !== 'string') return method;
          if (name === 'intendShared') return intendShared(target);
          return async (...args: unknown[]) => {
            const id = idOf(args[0]);
            if (id === null) return (method as Method).apply(target, args);
            const { task } = args[0] as { task?: string };
            if (task) tasks.set(id, task);
            const sent = SIGNS[name];
            if (sent) sends.set((args[1] as { signature: string }).signature, { id, name: sent });
            await pass(id, `${name}:before`);
            const value = await (method as Method).apply(target, args);
            await pass(id, `${name}:after`);
            return value;
          };
        },
      });
    },
    wrapChain(chain: RelayChain): RelayChain {
      return {
        ...chain,
        async untilSeen(signature, stop) {
          return !stopsAt(LATE, sends.get(signature)?.id ?? '') && (await chain.untilSeen(signature, stop));
        },
        async submit(signed, hasHappened, stop) {
          const { id, name } = sends.get(signed.signature) ?? { id: '', name: '' };
          await pass(id, `${name}:before`);
          const task = tasks.get(id) ?? '';
          if (pointOf(id) === `${name}:sent` || next.get(task) === `${name}:sent`) {
            await chain.connection.sendRawTransaction(signed.bytes, { skipPreflight: true });
            await pass(id, `${name}:sent`);
          }
          const outcome = await chain.submit(signed, hasHappened, stop);
          // Otherwise the payment may be final before the relay asks if a node shows it.
          if (name === 'send-pay' && stopsAt(EARLY, id)) await new Promise<void>(() => undefined);
          await pass(id, `${name}:after`);
          return outcome;
        },
      };
    },
  };
}
