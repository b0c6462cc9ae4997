/** Hands over the marketplace: the admin proposes, and nothing changes until the proposed wallet accepts. */

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ADDRESS } from '../../../sdk/wire/fields.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Button, Card, Empty, Facts, Input, Skeleton } from '../../parts/ui.tsx';
import { formatSpan, Id, shorten } from '../../parts/values.tsx';
import { useSession } from '../../wallet/session.ts';
import { chainConfigQuery, type Settings } from './chainConfig.ts';

/** The card of the admin, who can propose the next one. */
export function NextAdmin({ config }: { config: Settings }) {
  const [order, setOrder] = useState<'propose' | 'withdraw' | null>(null);
  const [text, setText] = useState('');
  const notify = useNotify();
  const address = text.trim();
  const isOther = ADDRESS.test(address) && address !== config.admin;
  const isProposing = order === 'propose';
  const delay = config.admin_delay_seconds;
  return (
    <Card className="grid content-start gap-4">
      <div>
        <h2 className="font-semibold">Admin</h2>
        <p className="mt-1 text-sm text-faint">
          Another wallet becomes admin in two steps: you propose it, and it accepts on this page.
        </p>
      </div>
      <Facts
        rows={[
          ['Now', <Id key="admin" value={config.admin} kind="address" />],
          [
            'Proposed',
            config.pending_admin ? <Id key="pending" value={config.pending_admin} kind="address" /> : 'nobody',
          ],
        ]}
      />
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setOrder('propose')}>Propose an admin</Button>
        {config.pending_admin && <Button onClick={() => setOrder('withdraw')}>Withdraw the proposal</Button>}
      </div>
      <SignDialog
        open={order !== null}
        onOpenChange={(open) => !open && setOrder(null)}
        title={isProposing ? 'Propose another admin' : 'Withdraw the proposal?'}
        about={
          isProposing
            ? `${delay > 0 ? `The proposal waits ${formatSpan(delay)}; then anybody can apply it, and the wallet can accept. ` : ''}Until it accepts, you stay admin and can withdraw the proposal. After that, only the new wallet is admin.`
            : 'The proposed wallet can no longer become admin.'
        }
        confirm={isProposing ? 'Sign and propose' : 'Sign and withdraw'}
        danger={isProposing}
        disabled={isProposing && !isOther}
        work={async ({ marketplace, wallet, announceChange, proposeNextAdmin, PublicKey }) => {
          const next = isProposing ? new PublicKey(address) : null;
          if (next && delay > 0) await announceChange(marketplace, wallet, { pendingAdmin: next });
          else await proposeNextAdmin(marketplace, wallet, next);
        }}
        onDone={() => {
          const proposed = delay > 0 ? 'The proposal is announced' : `${shorten(address)} is proposed`;
          notify(isProposing ? proposed : 'The proposal is withdrawn');
          setOrder(null);
          setText('');
        }}
      >
        {isProposing && (
          <Input
            label="Wallet of the next admin"
            hint="Make sure that somebody has the key of this wallet."
            error={address !== '' && !isOther ? 'It must be the address of another wallet.' : null}
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="font-mono"
            autoComplete="off"
            spellCheck={false}
          />
        )}
      </SignDialog>
    </Card>
  );
}

/** For everybody else: the proposed wallet may accept, others can do nothing here. */
export default function Succession() {
  const { wallet } = useSession();
  const { data, error, refetch } = useQuery(chainConfigQuery);
  const [isOpen, setOpen] = useState(false);
  const notify = useNotify();
  if (!data)
    return error ? <Trouble error={error} what="The settings" onRetry={refetch} /> : <Skeleton className="h-48" />;
  const { config } = data;
  if (!wallet || config.pending_admin !== wallet) {
    return (
      <Empty title="Only the admin can use this page">
        The wallet {shorten(wallet ?? '')} is not the marketplace’s admin, which is {shorten(config.admin)}. Sign in
        with that wallet to use this page.
        {config.guardian === wallet && (
          <>
            {' '}
            As the guardian, use{' '}
            <Link to="/terms" className="underline">
              Fees and settings
            </Link>
            .
          </>
        )}
      </Empty>
    );
  }
  return (
    <Empty title="You are proposed as the next admin">
      <p className="mb-5">
        By accepting you take over disputes, creators, settings and the collected fees from {shorten(config.admin)}.
      </p>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Accept
      </Button>
      <SignDialog
        open={isOpen}
        onOpenChange={setOpen}
        title="Become the marketplace’s admin?"
        rows={[['Admin', `${shorten(config.admin)} → ${shorten(wallet)}, this wallet`]]}
        confirm="Sign and accept"
        work={({ marketplace, wallet: signer, becomeAdmin }) => becomeAdmin(marketplace, signer)}
        onDone={() => {
          notify('You are the admin');
          setOpen(false);
        }}
      />
    </Empty>
  );
}
