/** Connects a wallet and signs in with it: one button, one dialog, one signature. */
import { useMutation } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { developmentWalletsPath } from '../service.ts';
import { signIn, useSession } from '../wallet/session.ts';
import { reconnect, useConnected, useTestWallet, useWallets } from '../wallet/wallets.ts';
import { NewToThis } from './explained.tsx';
import { Failed } from './failed.tsx';
import { focusContent } from './focus.ts';
import { GetWallet } from './getWallet.tsx';
import { Button, type ButtonKind, Empty, PageHead } from './ui.tsx';
import { shorten } from './values.tsx';

// Dialog and menu are loaded on use: no view needs them to be read.
const ConnectDialog = lazy(() => import('./connectDialog.tsx'));
const AccountMenu = lazy(() => import('./accountMenu.tsx'));

const SHORT_ON_A_PHONE = (
  <span>
    Connect<span className="max-sm:sr-only"> wallet</span>
  </span>
);

/** Maximum wait for an idle moment, ms. Then the test wallets of a local network are loaded. */
const IDLE_MS = 1_000;

/** Opens the dialog of wallets. */
export function ConnectButton({
  label = 'Connect wallet',
  kind = 'primary',
}: {
  label?: ReactNode;
  kind?: ButtonKind;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={kind} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <Suspense>
          <ConnectDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** Signs in with the shared test wallet at once. Renders nothing on a network without one. */
export function TestWalletButton({ kind = 'primary' }: { kind?: ButtonKind }) {
  const testWallet = useTestWallet();
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      if (!testWallet) return;
      await signIn(testWallet);
      focusContent();
    },
  });
  if (developmentWalletsPath() === '') return null;
  return (
    <>
      <Button kind={kind} busy={isPending} disabled={!testWallet} onClick={() => mutate()}>
        Use a shared test wallet
      </Button>
      <Failed error={error} title="You are not signed in" className="w-full" />
    </>
  );
}

/**
 * In the header: the signed-in wallet, or the button to connect. Also finds the wallets of a local network, and
 * reconnects the last one.
 */
export function Account() {
  const { wallet, isKnown } = useSession();
  const connected = useConnected();
  const wallets = useWallets();

  useEffect(() => {
    const path = developmentWalletsPath();
    if (!path) return;
    const offer = () => void import('../wallet/development.ts').then((module) => module.offerDevelopmentWallets(path));
    const idle = requestIdleCallback(offer, { timeout: IDLE_MS });
    return () => cancelIdleCallback(idle);
  }, []);
  // Runs again for each new wallet: extensions may load later than the page.
  useEffect(() => {
    if (wallet && wallets.length > 0) void reconnect(wallet);
  }, [wallet, wallets]);

  if (!isKnown) return <div className="h-10 w-24 sm:w-32" />;
  // The view has the primary action.
  if (!wallet) return <ConnectButton label={SHORT_ON_A_PHONE} kind="plain" />;
  return (
    <Suspense fallback={<div className="h-10 w-24 sm:w-32" />}>
      <AccountMenu wallet={wallet} connected={connected} />
    </Suspense>
  );
}

interface SignedInProps {
  /** Head to show in place of the children, if they have their own. */
  title?: string;
  why: string;
  admin?: boolean;
  children: ReactNode;
}

/** Shows its children to a signed-in wallet (with `admin`, to the admin only). Others are asked to connect one. */
export function SignedIn({ title, why, admin, children }: SignedInProps) {
  const { wallet, isKnown, isAdmin } = useSession();
  if (wallet && (!admin || isAdmin)) return children;
  return (
    <>
      {title && <PageHead title={title} />}
      {isKnown && !wallet && <Invitation why={why} hasTestWallet={!admin && developmentWalletsPath() !== ''} />}
      {wallet && (
        <Empty title="Only the admin can use this page">
          The wallet {shorten(wallet)} is not the marketplace’s admin.
        </Empty>
      )}
    </>
  );
}

function Invitation({ why, hasTestWallet }: { why: string; hasTestWallet: boolean }) {
  return (
    <Empty title="Connect a wallet to continue">
      <p className="mb-5">{why}</p>
      <div className="flex flex-wrap justify-center gap-2">
        {/* The first is what a newcomer can use. */}
        {hasTestWallet && <TestWalletButton />}
        <ConnectButton kind={hasTestWallet ? 'plain' : 'primary'} />
      </div>
      {hasTestWallet && (
        <p className="mt-3">
          Everybody here can see its calls, and delete their content. Its USDC and SOL have no value.
        </p>
      )}
      <p className="mt-6">
        {!hasTestWallet && (
          <>
            <span className="font-medium text-ink">No wallet yet?</span> <GetWallet />{' '}
          </>
        )}
        <NewToThis />
      </p>
    </Empty>
  );
}
