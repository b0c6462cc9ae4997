/** The signed-in wallet, and signing out. */
import { signOut, useBalance } from '../wallet/session.ts';
import type { Connected } from '../wallet/wallets.ts';
import { Menu, MenuItem } from './menu.tsx';
import { cx } from './ui.tsx';
import { formatAmount, shorten } from './values.tsx';

interface AccountMenuProps {
  wallet: string;
  connected: Connected | null;
  environment: string | undefined;
}

export default function AccountMenu({ wallet, connected, environment }: AccountMenuProps) {
  const balance = useBalance();
  return (
    <Menu
      button={
        <>
          <span aria-hidden="true" className={`size-2 rounded-full ${connected ? 'bg-good' : 'bg-warn'}`} />
          {/* A phone has room for only one: address or balance. */}
          <span className={cx('font-mono text-[0.8125rem]', balance !== undefined && 'max-sm:sr-only')}>
            {shorten(wallet)}
          </span>
          {balance !== undefined && <span className="tabular-nums">{formatAmount(balance)}</span>}
        </>
      }
      head={
        <>
          {connected ? `Signs with ${connected.wallet.name}` : 'Signed in; the wallet is not connected'}
          {environment && ` · ${environment} network`}
        </>
      }
    >
      <MenuItem onSelect={() => void navigator.clipboard.writeText(wallet)}>Copy address</MenuItem>
      <MenuItem onSelect={() => void signOut()}>Sign out</MenuItem>
    </Menu>
  );
}
