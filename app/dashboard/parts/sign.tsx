/** The user interface of a signature: its cost before, its progress during, and its result after. */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Signer } from '../../sdk/wallet/signer.ts';
import { explain } from '../service.ts';
import { type OpenedChain, openChain, signerOf } from '../wallet/chain.ts';
import { useSession } from '../wallet/session.ts';
import { useConnected } from '../wallet/wallets.ts';
import type { ActionProps } from './act.tsx';
import { ConnectButton } from './connect.tsx';
import { FormDialog } from './dialog.tsx';
import { useNotify } from './toasts.tsx';
import { Button, type ButtonKind, Facts, Spinner } from './ui.tsx';

export type Signing = OpenedChain & {
  /** The connected wallet. */
  wallet: Signer;
  /** Shows another line of progress. */
  onProgress(line: string): void;
};

/** Pauses before the index is read again; the first is usually enough. */
const INDEX_FOLLOWS_MS = [1_500, 5_000];

/** Runs an action that a wallet signs, with progress lines and an error text. */
function useSigning() {
  const connected = useConnected();
  const { wallet: session } = useSession();
  const queries = useQueryClient();
  const [lines, setLines] = useState<string[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);

  /** Calls `onDone` with the result of `work`. If it failed, `error` has the reason. */
  async function run<T>(work: (signing: Signing) => Promise<T>, onDone: (result: T) => void): Promise<void> {
    if (!connected) return;
    setRunning(true);
    setError(null);
    setLines([]);
    const onProgress = (line: string) => setLines((before) => [...before, line]);
    try {
      const chain = await openChain(session === connected.account.address ? session : undefined);
      const onExpired = (reason: string) => onProgress(`${reason} Please approve it again.`);
      const result = await work({ ...chain, wallet: { ...(await signerOf(connected)), onExpired }, onProgress });
      await queries.invalidateQueries();
      // The index learns of the change a moment later; visible views then update.
      for (const pauseMs of INDEX_FOLLOWS_MS) setTimeout(() => void queries.invalidateQueries(), pauseMs);
      onDone(result);
    } catch (reason) {
      setError(explain(reason));
    } finally {
      setRunning(false);
    }
  }

  return { run, isRunning, lines, error, isConnected: connected !== null };
}

/** The progress lines, newest last. */
function Progress({ lines, isRunning }: { lines: string[]; isRunning: boolean }) {
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

interface SignDialogProps<T> extends ActionProps<T> {
  /** Facts about the signature: amounts, receivers, and when they come back. */
  rows?: readonly (readonly [ReactNode, ReactNode])[];
  work(signing: Signing): Promise<T>;
}

/** Shows what will be signed, signs it, and stays open with the reason if that fails. */
export function SignDialog<T>(props: SignDialogProps<T>) {
  const { rows, confirm, danger, disabled, whyNot, done, work, onDone, children, ...dialog } = props;
  const signing = useSigning();
  const notify = useNotify();
  const sign = () =>
    signing.run(work, (result) => {
      const notice = done?.(result);
      if (notice) notify(...notice);
      props.onClose();
      onDone?.(result);
    });
  return (
    <FormDialog
      {...dialog}
      isBusy={signing.isRunning}
      error={signing.error}
      whyNot={disabled && whyNot}
      button={
        signing.isConnected ? (
          <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={signing.isRunning} disabled={disabled}>
            {confirm}
          </Button>
        ) : (
          <ConnectButton />
        )
      }
      onSubmit={() => void sign()}
    >
      {children}
      {rows && <Facts rows={rows} />}
      <Progress lines={signing.lines} isRunning={signing.isRunning} />
    </FormDialog>
  );
}

interface SignButtonProps<T> extends Omit<SignDialogProps<T>, 'onClose'> {
  button: ReactNode;
  /** The button's accessible name, if others have the same text. */
  label?: string;
  kind?: ButtonKind;
  small?: boolean;
  /** True if the dialog cannot be opened. */
  closed?: boolean;
}

/** A button that opens a `SignDialog`. */
export function SignButton<T>({ button, label, kind, small, closed, ...dialog }: SignButtonProps<T>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={kind} small={small} aria-label={label} disabled={closed} onClick={() => setOpen(true)}>
        {button}
      </Button>
      {isOpen && <SignDialog {...dialog} onClose={() => setOpen(false)} />}
    </>
  );
}
