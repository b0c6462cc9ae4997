/** Connecting a wallet and signing in with it: one button, one dialog, one signature. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { configQuery, developmentWalletsPath, explain } from '../service.ts';
import { signIn, signOut, useSession } from '../wallet/session.ts';
import { reconnect, type SolanaWallet, useConnected, useWallets } from '../wallet/wallets.ts';
import { Dialog } from './dialog.tsx';
import { Menu, MenuItem } from './menu.tsx';
import { Badge, Button, Empty, Note, PageHead } from './ui.tsx';
import { shorten } from './values.tsx';

/** Opens the dialog of wallets. */
export function ConnectButton({ label = 'Connect wallet' }: { label?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {label}
      </Button>
      <ConnectDialog open={isOpen} onOpenChange={setOpen} />
    </>
  );
}

function ConnectDialog({ open, onOpenChange }: { open: boolean; onOpenChange(open: boolean): void }) {
  const wallets = useWallets();
  const [pending, setPending] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);

  async function choose(wallet: SolanaWallet) {
    setPending(wallet.name);
    setError(null);
    try {
      await signIn(wallet);
      onOpenChange(false);
    } catch (reason) {
      setError(explain(reason));
    } finally {
      setPending(null);
    }
  }

  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Sign in with a wallet"
      about="You sign a message that proves the wallet is yours. It is no transaction and spends nothing."
    >
      <ul className="grid gap-2">
        {wallets.map((wallet) => (
          <li key={wallet.name}>
            <Button className="w-full justify-start" busy={pending === wallet.name} onClick={() => choose(wallet)}>
              <img src={wallet.icon} alt="" className="size-5 rounded" />
              {wallet.name}
            </Button>
          </li>
        ))}
      </ul>
      {wallets.length === 0 && (
        <Empty title="This browser has no Solana wallet">
          Install one that follows the Wallet Standard, such as Phantom, Solflare or Backpack, and reload this page.
        </Empty>
      )}
      {error && (
        <div className="mt-4">
          <Note tone="bad" title="Not signed in">
            {error}
          </Note>
        </div>
      )}
    </Dialog>
  );
}

/** In the header: who is signed in, or the way there. Also finds the wallets of a local network, and the last one again. */
export function Account() {
  const { wallet, isKnown, isAdmin } = useSession();
  const connected = useConnected();
  const wallets = useWallets();
  const { data: config } = useQuery(configQuery);

  useEffect(() => {
    const path = developmentWalletsPath();
    if (path) void import('../wallet/development.ts').then((module) => module.offerDevelopmentWallets(path));
  }, []);
  // Again with each wallet that turns up: extensions may be later than the page.
  useEffect(() => {
    if (wallet && wallets.length > 0) void reconnect(wallet);
  }, [wallet, wallets]);

  if (!isKnown) return <div className="h-10 w-32" />;
  if (!wallet) return <ConnectButton />;
  return (
    <Menu
      button={
        <>
          <span aria-hidden="true" className={`size-2 rounded-full ${connected ? 'bg-good' : 'bg-warn'}`} />
          <span className="font-mono text-[0.8125rem]">{shorten(wallet)}</span>
          {isAdmin && <Badge tone="accent">admin</Badge>}
        </>
      }
      head={
        <>
          {connected ? `Signs with ${connected.wallet.name}` : 'Signed in; the wallet is not connected'}
          {config && ` · ${config.environment} network`}
        </>
      }
    >
      <MenuItem onSelect={() => void navigator.clipboard.writeText(wallet)}>Copy address</MenuItem>
      <MenuItem onSelect={() => void signOut()}>Sign out</MenuItem>
    </Menu>
  );
}

interface SignedInProps {
  /** The view's, where its children bring the head of their own. */
  title?: string;
  why: string;
  admin?: boolean;
  children: ReactNode;
}

/** Shows its children to the signed-in wallet, and everybody else the way there. */
export function SignedIn({ title, why, admin, children }: SignedInProps) {
  const { wallet, isKnown, isAdmin } = useSession();
  if (wallet && (!admin || isAdmin)) return children;
  return (
    <>
      {title && <PageHead title={title} />}
      {isKnown && !wallet && (
        <Empty title="Connect a wallet to go on">
          <p className="mb-5">{why}</p>
          <ConnectButton />
        </Empty>
      )}
      {wallet && (
        <Empty title="This part is the admin's">The wallet {shorten(wallet)} is not the marketplace's admin.</Empty>
      )}
    </>
  );
}
