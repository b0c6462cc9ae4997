/** The user interface of a signature: its cost before, its progress during, and its result after. */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Signer } from '../../sdk/wallet/signer.ts';
import { explain } from '../service.ts';
import { type OpenedChain, openChain, signerOf } from '../wallet/chain.ts';
import { useSession } from '../wallet/session.ts';
import { useConnected } from '../wallet/wallets.ts';
import { ConnectButton } from './connect.tsx';
import { Dialog } from './dialog.tsx';
import { Button, Facts, Note, Spinner } from './ui.tsx';

export type Signing = OpenedChain & {
  /** The connected wallet. */
  wallet: Signer;
  /** Shows another line of progress. */
  onProgress(line: string): void;
};

/** Pauses before the index is read again; the first is usually enough. */
const INDEX_FOLLOWS_MS = [1_500, 5_000];

/** Runs an action that a wallet signs, with progress lines and an error text. */
export function useSigning() {
  const connected = useConnected();
  const { wallet: session } = useSession();
  const queries = useQueryClient();
  const [lines, setLines] = useState<string[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);

  /** The result of `work`; undefined if it failed, and then `error` has the reason. */
  async function run<T>(work: (signing: Signing) => Promise<T>): Promise<T | undefined> {
    if (!connected) return undefined;
    setRunning(true);
    setError(null);
    setLines([]);
    const onProgress = (line: string) => setLines((before) => [...before, line]);
    try {
      const chain = await openChain(session === connected.account.address ? session : undefined);
      const onExpired = (reason: string) => onProgress(`${reason} Please approve it again.`);
      const done = await work({ ...chain, wallet: { ...(await signerOf(connected)), onExpired }, onProgress });
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

  return { run, isRunning, lines, error, isConnected: connected !== null };
}

/** The progress lines, newest last. */
export function Progress({ lines, isRunning }: { lines: string[]; isRunning: boolean }) {
  if (lines.length === 0 && !isRunning) return null;
  return (
    <div className="grid gap-1.5 rounded-lg bg-sunken px-4 py-3 text-sm" aria-live="polite">
      {lines.map((line, index) => (
        <p key={index}>{line}</p>
      ))}
      {isRunning && <Spinner label={lines.length === 0 ? 'Waiting for the wallet …' : 'Continuing …'} />}
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
  /** Why it cannot be confirmed yet; shown beside the disabled button. */
  whyNot?: string | null;
  work(signing: Signing): Promise<T>;
  onDone(result: T): void;
}

/** Shows what will be signed, signs it, and stays open with the reason if that fails. */
export function SignDialog<T>(props: SignDialogProps<T>) {
  const { open, onOpenChange, title, about, rows, children, confirm, danger, disabled, whyNot, work, onDone } = props;
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
        <Progress lines={signing.lines} isRunning={signing.isRunning} />
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
