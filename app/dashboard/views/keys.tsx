/** A wallet's API keys: create, watch, change and end them. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { KeySummary } from '../../sdk/wire/procedures.ts';
import { SignedIn } from '../parts/connect.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Button, buttonStyle, Empty, PageHead, Skeleton } from '../parts/ui.tsx';
import { configQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { LimitsDialog, RestrictDialog } from './keys/change.tsx';
import { CreateDialog } from './keys/create.tsx';
import { CloseDialog, RevokeDialog, RevokeOnChainDialog, RotateDialog } from './keys/end.tsx';
import { isUsable, type KeyAction, KeyCard } from './keys/keyCard.tsx';
import type { MadeKey } from './keys/makeKey.ts';
import type { WalletMoney } from './keys/money.ts';
import { ShownKey } from './keys/shown.tsx';
import { useSpend } from './keys/use.tsx';
import { AllowanceDialog, GasDialog, WalletFigures } from './keys/wallet.tsx';
import { useWalletKeys } from './keys/walletKeys.ts';
import { Warnings } from './keys/warnings.tsx';

const TITLE = 'API keys';
const ABOUT =
  "A key lets a program call agents with this wallet's USDC, within limits that the chain enforces. Its value is shown " +
  'once, when it is created. You can change its limits or revoke it here at any time.';

export default function View() {
  const { wallet } = useSession();
  return (
    <SignedIn
      title={TITLE}
      why="A key lets a program call agents with your wallet's USDC, within limits that the chain enforces."
    >
      {wallet && <Keys key={wallet} wallet={wallet} />}
    </SignedIn>
  );
}

type Shown = 'create' | 'gas' | 'takeGas' | 'allowance' | { action: KeyAction; apiKey: KeySummary } | null;

function Keys({ wallet }: { wallet: string }) {
  const [shown, setShown] = useState<Shown>(null);
  const [made, setMade] = useState<MadeKey | null>(null);
  const { listed, money, chain } = useWalletKeys(wallet);
  const { data: keys, error, refetch } = listed;
  const spend = useSpend(wallet, keys);
  const isSponsored = useQuery(configQuery).data?.is_sponsored;
  const close = () => setShown(null);
  const create = (
    <Button kind="primary" disabled={!money} onClick={() => setShown('create')}>
      Create API key
    </Button>
  );
  const usable = keys?.filter((key) => isUsable(key, money)) ?? [];
  const ended = keys?.filter((key) => !isUsable(key, money)) ?? [];
  const cards = (list: KeySummary[]) =>
    list.map((apiKey) => (
      <li key={`${apiKey.key_id} ${apiKey.created_at}`}>
        <KeyCard
          apiKey={apiKey}
          money={money ?? (chain.error ? null : undefined)}
          isSponsored={isSponsored}
          spend={spend}
          onAct={(action) => setShown({ action, apiKey })}
        />
      </li>
    ));

  return (
    <>
      <PageHead title={TITLE} about={ABOUT}>
        <Link to="/webhooks" className={buttonStyle()}>
          Webhooks
        </Link>
        {keys?.length !== 0 && (keys || !error) && create}
      </PageHead>
      {error && !keys && <Trouble error={error} what="The keys" onRetry={refetch} />}
      {chain.error && !money && (
        <Trouble error={chain.error} what="The limits and balances on the chain" onRetry={chain.refetch} />
      )}
      {!chain.error && keys?.length !== 0 && (
        <WalletFigures
          money={money}
          isSponsored={isSponsored}
          onGas={(way) => setShown(way === 'add' ? 'gas' : 'takeGas')}
          onAllowance={() => setShown('allowance')}
        />
      )}
      {/* Below the figures, which are known earlier, so that nothing moves. */}
      {keys && money && (
        <Warnings
          keys={keys}
          money={money}
          isSponsored={isSponsored}
          onAllowance={() => setShown('allowance')}
          onGas={() => setShown('gas')}
        />
      )}
      {!keys && !error && <Skeleton className="h-60 sm:h-44" />}
      {keys?.length === 0 && (
        <Empty title="No API keys yet">
          <p className="mb-5">
            An API key lets a program call agents and pay them from this wallet. You set its limits per call, per period
            and in total, and can revoke it at any time.
          </p>
          {create}
        </Empty>
      )}
      <ul className="grid gap-3">{cards(usable)}</ul>
      {ended.length > 0 && (
        <details className="mt-6" open={usable.length === 0}>
          <summary className="mb-3 text-sm text-faint">
            Ended keys <span className="tabular-nums">({ended.length})</span>
          </summary>
          <ul className="grid gap-3">{cards(ended)}</ul>
        </details>
      )}
      {money && (
        <>
          <CreateDialog open={shown === 'create'} money={money} onClose={close} onMade={setMade} />
          <Dialogs shown={shown} money={money} onShow={setShown} onMade={setMade} />
        </>
      )}
      {made && <ShownKey made={made} wallet={wallet} onClose={() => setMade(null)} />}
    </>
  );
}

interface DialogsProps {
  shown: Shown;
  money: WalletMoney;
  onShow(shown: Shown): void;
  onMade(made: MadeKey): void;
}

function Dialogs({ shown, money, onShow, onMade }: DialogsProps) {
  const onClose = () => onShow(null);
  if (shown === null || shown === 'create') return null;
  if (shown === 'allowance') return <AllowanceDialog money={money} onClose={onClose} />;
  if (shown === 'gas' || shown === 'takeGas') {
    return <GasDialog money={money} way={shown === 'gas' ? 'add' : 'take'} onClose={onClose} />;
  }
  const { action, apiKey } = shown;
  const grant = money.grants.get(apiKey.key_id);
  if (action === 'restrict') return <RestrictDialog apiKey={apiKey} grant={grant} onClose={onClose} />;
  if (action === 'revoke') {
    const endOnChain = () => onShow({ action: 'revokeOnChain', apiKey: { ...apiKey, revoked: true } });
    return <RevokeDialog apiKey={apiKey} onClose={onClose} onHalfDone={endOnChain} />;
  }
  if (action === 'revokeOnChain') return <RevokeOnChainDialog apiKey={apiKey} onClose={onClose} />;
  if (action === 'close') return <CloseDialog apiKey={apiKey} onClose={onClose} />;
  if (action === 'limits')
    return grant && <LimitsDialog apiKey={apiKey} grant={grant} money={money} onClose={onClose} />;
  return <RotateDialog apiKey={apiKey} money={money} onClose={onClose} onMade={onMade} />;
}
