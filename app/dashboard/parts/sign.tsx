/** The user interface of a signature: its cost before, its progress during, and its result after. */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Signer } from '../../sdk/wallet/signer.ts';
import { explain } from '../service.ts';
import { loadChainModules, type OpenedChain, openChain, signerOf } from '../wallet/chain.ts';
import { useSession } from '../wallet/session.ts';
import { useConnected } from '../wallet/wallets.ts';
import type { ActionProps } from './act.tsx';
import { TestMark } from './badges.tsx';
import { ConnectButton } from './connect.tsx';
import { FormDialog } from './dialog.tsx';
import { type Spend, useFunds } from './funds.tsx';
import { useNotify } from './toasts.tsx';
import { Button, type ButtonKind, Facts, Spinner } from './ui.tsx';

export type Signing = OpenedChain & {
  /** The connected wallet. */
  wallet: Signer;
  /**
   * Shows what happens now, in place of `doing`. A phrase without a full stop, such as "Adding 5.00 USDC of collateral",
   * gets " …" or the request to approve it; a sentence stays as it is.
   */
  say(line: string): void;
  /** Adds a line to the log under "Details": ids, signatures, steps of the chain. */
  onProgress(line: string): void;
};

/** Pauses before the index is read again; the first is usually enough. */
const INDEX_FOLLOWS_MS = [1_500, 5_000];

/** Runs an action that a wallet signs, with what happens now, a log and an error text. */
function useSigning(doing: string) {
  const connected = useConnected();
  const { wallet: session } = useSession();
  const queries = useQueryClient();
  const [line, say] = useState('');
  const [isApproving, setApproving] = useState(false);
  const [log, setLog] = useState<string[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);

  /** Calls `onDone` with the result of `work`. If it failed, `error` has the reason. */
  async function run<T>(work: (signing: Signing) => Promise<T>, onDone: (result: T) => void): Promise<void> {
    if (!connected) return;
    setRunning(true);
    setError(null);
    say(doing);
    setLog([]);
    const onProgress = (line: string) => setLog((before) => [...before, line]);
    try {
      const chain = await openChain(session === connected.account.address ? session : undefined);
      const onExpired = (reason: string) => say(`${reason} Please approve it again.`);
      const signer = await signerOf(connected);
      const approved = async <Signed,>(signed: Promise<Signed>): Promise<Signed> => {
        setApproving(true);
        return signed.finally(() => setApproving(false));
      };
      const wallet: Signer = {
        ...signer,
        signTransaction: (transaction) => approved(signer.signTransaction(transaction)),
        signMessage: (message) => approved(signer.signMessage(message)),
        onExpired,
      };
      const result = await work({ ...chain, wallet, say, onProgress });
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

  return { run, isRunning, said: saidOf(line, isApproving), log, error, address: connected?.account.address };
}

/** A whole sentence stays as it is. */
function saidOf(line: string, isApproving: boolean): string {
  if (line.endsWith('.')) return line;
  return isApproving ? `${line}: approve it in your wallet …` : `${line} …`;
}

/** What happens now, and the log, folded. */
function Progress({ said, log, isRunning }: Pick<ReturnType<typeof useSigning>, 'said' | 'log' | 'isRunning'>) {
  if (!isRunning && log.length === 0) return null;
  return (
    <div className="grid gap-2 rounded-lg bg-sunken px-4 py-3 text-sm">
      {isRunning && <Spinner label={said} />}
      {log.length > 0 && (
        <details>
          <summary>Details</summary>
          <ul className="mt-1.5 grid gap-1 text-faint">
            {log.map((line, index) => (
              <li key={index}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

interface SignDialogProps<T> extends ActionProps<T> {
  /** What the signature does, for people: "Putting 0.25 USDC into escrow". `say` replaces it when something else happens. */
  doing: string;
  /** What it takes from the wallet. The button waits until the balance is known, and is enough. */
  spends?: Spend | undefined;
  /** What it takes: the sum stays beside the button, because the rows may be out of sight. `kept` is below the rows. */
  pays?: { sum: string; kept?: string };
  /** Facts about the signature: amounts, receivers, and when they come back. */
  rows?: readonly (readonly [ReactNode, ReactNode])[];
  /** Signs once it can, without a click. A failure waits for one. */
  isAtOnce?: boolean;
  work(signing: Signing): Promise<T>;
}

/** Shows what will be signed, signs it, and stays open with the reason if that fails. */
export function SignDialog<T>(props: SignDialogProps<T>) {
  const {
    doing,
    spends,
    pays,
    rows = [],
    isAtOnce = false,
    confirm,
    danger,
    whyNot,
    done,
    work,
    onDone,
    children,
  } = props;
  const signing = useSigning(doing);
  const funds = useFunds(signing.address, spends);
  const disabled = props.disabled || !funds.isEnough;
  const shown = [...rows, ...funds.rows];
  const reason = props.disabled ? whyNot : funds.whyNot;
  const notify = useNotify();
  // Loaded while the visitor reads. Signing loads them again if this failed, and reports it.
  useEffect(() => void loadChainModules().catch(() => undefined), []);
  const sign = () =>
    signing.run(work, (result) => {
      const notice = done?.(result);
      if (notice) notify(...notice);
      props.onClose();
      onDone?.(result);
    });
  const isBegun = useRef(false);
  useEffect(() => {
    if (!isAtOnce || disabled || !signing.address || isBegun.current) return;
    isBegun.current = true;
    void sign();
  });
  return (
    <FormDialog
      title={
        <span className="flex flex-wrap items-center gap-x-2">
          {props.title}
          <TestMark />
        </span>
      }
      about={props.about}
      isBusy={signing.isRunning}
      error={signing.error}
      whyNot={
        (reason || pays) && (
          <p>
            {pays && <span className="text-ink tabular-nums">You pay now {pays.sum}. </span>}
            {reason}
          </p>
        )
      }
      onClose={props.onClose}
      button={
        signing.address ? (
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
      {shown.length > 0 && <Facts rows={shown} />}
      {pays?.kept && <p className="text-sm tabular-nums first-letter:uppercase">{pays.kept}.</p>}
      {funds.notice}
      <Progress said={signing.said} log={signing.log} isRunning={signing.isRunning} />
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
