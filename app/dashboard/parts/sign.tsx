/** The user interface of a signature: its cost before, its progress during, and its result after. */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Signer } from '../../sdk/wallet/signer.ts';
import { explain } from '../service.ts';
import { type OpenedChain, openChain, signerOf } from '../wallet/chain.ts';
import { useSession } from '../wallet/session.ts';
import { useConnected } from '../wallet/wallets.ts';
import { TestMark } from './badges.tsx';
import { ConnectButton } from './connect.tsx';
import { Dialog } from './dialog.tsx';
import { Button, Facts, Note, Spinner } from './ui.tsx';

export type Signing = OpenedChain & {
  /** The connected wallet. */
  wallet: Signer;
  /** Shows what happens now, in a sentence for people, in place of the last one. */
  say(line: string): void;
  /** Adds a line to the log under "Details": ids, signatures, steps of the chain. */
  onProgress(line: string): void;
};

/** Pauses before the index is read again; the first is usually enough. */
const INDEX_FOLLOWS_MS = [1_500, 5_000];

/** Runs an action that a wallet signs, with what happens now, a log and an error text. */
function useSigning() {
  const connected = useConnected();
  const { wallet: session } = useSession();
  const queries = useQueryClient();
  const [said, say] = useState<string | null>(null);
  const [log, setLog] = useState<string[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);

  /** The result of `work`; undefined if it failed, and then `error` has the reason. */
  async function run<T>(work: (signing: Signing) => Promise<T>): Promise<T | undefined> {
    if (!connected) return undefined;
    setRunning(true);
    setError(null);
    say(null);
    setLog([]);
    const onProgress = (line: string) => setLog((before) => [...before, line]);
    try {
      const chain = await openChain(session === connected.account.address ? session : undefined);
      const onExpired = (reason: string) => say(`${reason} Please approve it again.`);
      const done = await work({ ...chain, wallet: { ...(await signerOf(connected)), onExpired }, say, onProgress });
      await queries.invalidateQueries();
      // The index learns of the change a moment later; visible views then update.
      for (const pauseMs of INDEX_FOLLOWS_MS) setTimeout(() => void queries.invalidateQueries(), pauseMs);
      return done;
    } catch (reason) {
      setError(explain(reason));
      return undefined;
    } finally {
      setRunning(false);
    }
  }

  return { run, isRunning, said, log, error, isConnected: connected !== null };
}

/** What happens now, and the log for who wants to know more. */
function Progress({ said, log, isRunning }: Pick<ReturnType<typeof useSigning>, 'said' | 'log' | 'isRunning'>) {
  if (!isRunning && log.length === 0) return null;
  return (
    <div className="grid gap-2 rounded-lg bg-sunken px-4 py-3 text-sm">
      {isRunning && <Spinner label={said ?? 'Waiting for your wallet …'} />}
      {log.length > 0 && (
        <details>
          <summary className="text-faint">Details</summary>
          <ul className="mt-1.5 grid gap-1 text-xs text-faint">
            {log.map((line, index) => (
              <li key={index}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

interface SignDialogProps<T> {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: ReactNode;
  about?: ReactNode;
  /** Facts about the signature: amounts, receivers, and when they come back. */
  rows?: readonly (readonly [ReactNode, ReactNode])[];
  /** Fields that the user fills in first. */
  children?: ReactNode;
  confirm: string;
  danger?: boolean;
  disabled?: boolean;
  /** Signs once it can, without a click. A failure waits for one. */
  isAtOnce?: boolean;
  /** Why it cannot be confirmed yet; shown beside the disabled button. */
  whyNot?: string | null;
  work(signing: Signing): Promise<T>;
  onDone(result: T): void;
}

/** Shows what will be signed, signs it, and stays open with the reason if that fails. */
export function SignDialog<T>(props: SignDialogProps<T>) {
  const { open, onOpenChange, title, about, rows, children, confirm, danger, disabled, whyNot, work, onDone } = props;
  const { isAtOnce = false } = props;
  const signing = useSigning();
  async function sign() {
    // A result may be undefined too, so success is recorded here.
    let isDone = false;
    const result = await signing.run(async (context) => {
      const value = await work(context);
      isDone = true;
      return value;
    });
    if (isDone) onDone(result as T);
  }
  const isBegun = useRef(false);
  useEffect(() => {
    if (!isAtOnce || !open || disabled || !signing.isConnected || isBegun.current) return;
    isBegun.current = true;
    void sign();
  });
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={title} about={about} mayClose={!signing.isRunning}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void sign();
        }}
      >
        {children}
        {rows && <Facts rows={rows} />}
        <Progress said={signing.said} log={signing.log} isRunning={signing.isRunning} />
        {signing.error && (
          <Note tone="bad" title="It failed">
            {signing.error}
          </Note>
        )}
        <div className="flex flex-wrap items-center justify-end gap-2">
          {disabled && whyNot && <p className="mr-auto text-sm text-faint">{whyNot}</p>}
          <Button onClick={() => onOpenChange(false)} disabled={signing.isRunning}>
            Cancel
          </Button>
          <TestMark />
          {signing.isConnected ? (
            <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={signing.isRunning} disabled={disabled}>
              {confirm}
            </Button>
          ) : (
            <ConnectButton />
          )}
        </div>
      </form>
    </Dialog>
  );
}
