/** A wallet's API keys: create, watch, change and end them. */
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { createPortal } from 'react-dom';
import type { KeySummary } from '../../sdk/wire/procedures.ts';
import { SignedIn } from '../parts/connect.tsx';
import { SharedNote } from '../parts/sharedNote.tsx';
import { SettingsTrouble, Unread } from '../parts/trouble.tsx';
import { Button, Empty, PageHead, Skeleton } from '../parts/ui.tsx';
import { configQuery } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import type { Shown } from './keys/dialogs.tsx';
import { isUsable, KeyCard } from './keys/keyCard.tsx';
import { useWalletKeys } from './keys/money.ts';
import { useSpend } from './keys/use.tsx';
import { WalletFigures } from './keys/wallet.tsx';
import { Warnings } from './keys/warnings.tsx';

// With the rules of their fields, large: loaded once the keys are shown.
const Dialogs = lazy(() => import('./keys/dialogs.tsx'));

const ABOUT =
  'An API key lets a program pay for calls from your wallet, within limits that you set. The key itself is shown only once.';

export default function View() {
  const { wallet } = useSession();
  // The head is drawn once, also while nobody knows who is signed in. Its button comes later.
  const [actions, setActions] = useState<HTMLElement | null>(null);
  return (
    <>
      <PageHead title="API keys" about={ABOUT}>
        {wallet && <div ref={setActions} />}
      </PageHead>
      <SignedIn why="Keys belong to a wallet. Connect yours to see or create them.">
        {wallet && <Keys key={wallet} wallet={wallet} actions={actions} />}
      </SignedIn>
    </>
  );
}

interface KeysProps {
  wallet: string;
  /** The place of the button in the head. */
  actions: HTMLElement | null;
}

function Keys({ wallet, actions }: KeysProps) {
  const [shown, setShown] = useState<Shown>(null);
  const { listed, money, chain } = useWalletKeys(wallet);
  const { data: keys, error } = listed;
  const spend = useSpend(wallet, keys);
  const linked = useLocation({ select: ({ hash }) => hash });
  const settings = useQuery(configQuery);
  const isSponsored = settings.data?.is_sponsored;
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
      {actions && keys?.length !== 0 && (keys || !error) && createPortal(create, actions)}
      <SharedNote>
        Other users of this shared test wallet see its keys here too, and can change or revoke them.
      </SharedNote>
      {error && !keys && <Unread query={listed} what="The keys" />}
      {chain.error && !money && <Unread query={chain} what="The limits and balances on the chain" />}
      <SettingsTrouble />
      {!chain.error && (settings.data || !settings.error) && keys?.length !== 0 && (
        <WalletFigures
          keyIds={usable.filter(({ scopes }) => scopes.includes('execute')).map(({ key_id }) => key_id)}
          money={money}
          isSponsored={isSponsored}
          onUsdc={() => setShown('usdc')}
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
            You set a key’s limits per call, per period and in total, and can revoke it at any time.
          </p>
          {create}
        </Empty>
      )}
      <ul className="grid gap-3">{cards(usable)}</ul>
      {ended.length > 0 && (
        <details className="mt-6" open={usable.length === 0 || ended.some(({ key_id }) => key_id === linked)}>
          <summary className="mb-3 text-sm">
            Ended keys <span className="tabular-nums">({ended.length})</span>
          </summary>
          <ul className="grid gap-3">{cards(ended)}</ul>
        </details>
      )}
      {money && (
        <Suspense>
          <Dialogs wallet={wallet} shown={shown} money={money} onShow={setShown} />
        </Suspense>
      )}
    </>
  );
}
