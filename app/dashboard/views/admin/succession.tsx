/** Hands over the marketplace: the admin proposes, and nothing changes until the proposed wallet accepts. */
import { useQuery } from '@tanstack/react-query';
import { TextLink } from '../../parts/links.tsx';
import { SignButton } from '../../parts/sign.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Card, Empty, Facts, Skeleton } from '../../parts/ui.tsx';
import { formatSpan, Id, shorten, Time } from '../../parts/values.tsx';
import { changesQuery } from '../../service.ts';
import { useSession } from '../../wallet/session.ts';
import { chainConfigQuery, type Settings } from './chainConfig.ts';
import { ProposeKey } from './propose.tsx';

/** The card of the admin, who can propose the next one. */
export function NextAdmin({ config }: { config: Settings }) {
  const delay = config.admin_delay_seconds;
  return (
    <Card id="admin" className="grid content-start gap-4">
      <div>
        <h2 className="font-semibold">Admin</h2>
        <p className="mt-1 text-sm text-faint">
          Another wallet becomes admin in two steps: you propose it, and it accepts on this page.
        </p>
      </div>
      <Facts rows={[['Now', <Id key="admin" value={config.admin} kind="address" />]]} />
      <div>
        <ProposeKey
          button="Propose an admin …"
          title="Propose another admin"
          about={`${delay > 0 ? `The proposal waits ${formatSpan(delay)}; then the wallet can accept for 7 days.` : 'The wallet can accept for 7 days.'} Until it accepts, you stay admin. ${config.guardian ? 'Only the guardian can cancel the proposal.' : 'You can cancel the proposal.'}`}
          doing="Proposing the next admin"
          label="Wallet of the next admin"
          hint="Make sure that somebody has the key of this wallet."
          taken={[config.admin]}
          proposal={(nextAdmin) => ({ nextAdmin })}
        />
      </div>
    </Card>
  );
}

/** For everybody else: the proposed wallet may accept, others can do nothing here. */
export default function Succession() {
  const { wallet } = useSession();
  const query = useQuery(chainConfigQuery);
  const { data: pending, isPending } = useQuery(changesQuery);
  if (!query.data) return <Unread query={query} what="The settings" className="h-48" />;
  if (isPending) return <Skeleton className="h-48" />;
  const { config } = query.data;
  const proposal = pending?.changes.find(
    ({ subject, status, settings }) =>
      subject === 'admin' && (status === 'waiting' || status === 'applicable') && settings[0]?.after === wallet,
  );
  if (!wallet || !proposal) {
    return (
      <Empty title="Only the admin can use this page">
        The wallet {shorten(wallet ?? '')} is not the marketplace’s admin, which is {shorten(config.admin)}. Connect
        that wallet to use this page.
        {config.guardian === wallet && (
          <>
            {' '}
            As the guardian, use <TextLink to="/terms">Fees and rules</TextLink>.
          </>
        )}
      </Empty>
    );
  }
  return (
    <Empty title="You are proposed as the next admin">
      <p className="mb-5">
        By accepting you take over disputes, creators, settings and the treasury from {shorten(config.admin)}. All other
        pending changes are cancelled.
      </p>
      {proposal.status === 'waiting' && (
        <p className="mb-5">
          You can accept from <Time at={proposal.applicable_at} /> on.
        </p>
      )}
      <SignButton
        button="Accept"
        kind="primary"
        closed={proposal.status === 'waiting'}
        title="Become the marketplace’s admin?"
        rows={[['Admin', `${shorten(config.admin)} → ${shorten(wallet)}, this wallet`]]}
        doing="Becoming the admin"
        confirm="Sign and accept"
        work={({ marketplace, wallet: signer, becomeAdmin }) => becomeAdmin(marketplace, signer)}
        done={() => ['You are the admin']}
      />
    </Empty>
  );
}
