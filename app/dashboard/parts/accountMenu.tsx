/** The session's wallet: its balance, its own views, and disconnecting. */
import { Fragment, lazy, Suspense, useState } from 'react';
import { signOut, useBalance, useLamports, useSession } from '../wallet/session.ts';
import { type Connected, useShared } from '../wallet/wallets.ts';
import { formatShortSol } from './amount.ts';
import { Menu, MenuGroup, MenuItem, MenuLine, MenuLink } from './menu.tsx';
import { ACTIVITY, ADMIN, creatorPlaceOf, TERMS } from './places.ts';
import { cx } from './ui.tsx';
import { formatAmount, formatCents, shorten } from './values.tsx';

const AddUsdcDialog = lazy(() => import('./addUsdc.tsx'));
const StatementDialog = lazy(() => import('./statement.tsx').then((module) => ({ default: module.StatementDialog })));

/** Pays network fees and deposits; rendered, and thus read, while the menu is open. */
function SolBalance({ wallet }: { wallet: string }) {
  const lamports = useLamports(wallet);
  return <span className="min-h-4 tabular-nums">{lamports !== undefined && formatShortSol(lamports)}</span>;
}

function signerWords(connected: Connected | null, isShared: boolean): string {
  if (!connected) return 'This browser has not connected the wallet yet';
  const { name } = connected.wallet;
  return isShared
    ? `Shared test wallet: ${name}. Others use it too; its calls and disputes are not only yours.`
    : `Signs with ${name}`;
}

interface AccountMenuProps {
  wallet: string;
  connected: Connected | null;
}

export default function AccountMenu({ wallet, connected }: AccountMenuProps) {
  const { isAdmin, isCreator } = useSession();
  const balance = useBalance();
  const isShared = useShared();
  const [opened, setOpened] = useState<'usdc' | 'statement' | null>(null);
  const onClose = () => setOpened(null);
  return (
    <>
      <Menu
        className="shrink-0 max-sm:gap-1.5 max-sm:px-2.5"
        button={
          <>
            <span aria-hidden="true" className={`size-2 rounded-full ${connected ? 'bg-good' : 'bg-warn'}`} />
            {/* A narrow window has room for only one: address or balance. */}
            <span
              className={cx(
                'font-mono text-[0.8125rem]',
                isShared ? 'sr-only' : balance !== undefined && 'max-xl:sr-only',
              )}
            >
              {shorten(wallet)}
            </span>
            {isShared && (
              <span className="text-faint max-[22rem]:sr-only">
                <span className="sr-only">Shared </span>Test<span className="max-xl:sr-only"> wallet</span>
              </span>
            )}
            {balance !== undefined && (
              <span className="tabular-nums" title={formatAmount(balance)}>
                {formatCents(balance)}
              </span>
            )}
          </>
        }
        head={
          <span className="grid gap-1 sm:max-w-60">
            <span>{signerWords(connected, isShared)}</span>
            {balance !== undefined && (
              <span className="mt-1.5 text-base font-semibold text-ink tabular-nums">{formatAmount(balance)}</span>
            )}
            <SolBalance wallet={wallet} />
          </span>
        }
      >
        <MenuItem onSelect={() => void navigator.clipboard.writeText(wallet)}>
          Copy address <span className="font-mono text-[0.8125rem] text-faint">{shorten(wallet)}</span>
        </MenuItem>
        <MenuItem onSelect={() => setOpened('usdc')}>Add USDC …</MenuItem>
        <MenuLine />
        <MenuGroup name="Activity">
          {ACTIVITY.map((place) => (
            <Fragment key={place.to}>
              <MenuLink place={place} />
              {place.to === '/spend' && <MenuItem onSelect={() => setOpened('statement')}>Daily statement …</MenuItem>}
            </Fragment>
          ))}
        </MenuGroup>
        <MenuLine />
        <MenuGroup name="As a creator">
          <MenuLink place={creatorPlaceOf(isCreator)} />
        </MenuGroup>
        <MenuLine />
        {isAdmin && <MenuLink place={ADMIN} />}
        <MenuLink place={TERMS} />
        <MenuItem onSelect={() => void signOut()}>Disconnect</MenuItem>
      </Menu>
      <Suspense>
        {opened === 'usdc' && <AddUsdcDialog wallet={wallet} onClose={onClose} />}
        {opened === 'statement' && <StatementDialog onClose={onClose} />}
      </Suspense>
    </>
  );
}
