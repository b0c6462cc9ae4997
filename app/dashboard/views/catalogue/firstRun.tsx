/**
 * A first result. Where test wallets exist, one click signs in with one of them and runs the agent's example for real.
 * Elsewhere it shows what the agent answered in its creator's last test, and says so.
 */
import { useMutation, useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { SpendButton } from '../../parts/badges.tsx';
import { Failed } from '../../parts/trouble.tsx';
import { Skeleton } from '../../parts/ui.tsx';
import { formatNumber, Time } from '../../parts/values.tsx';
import { developmentWalletsPath, exampleQuery } from '../../service.ts';
import { signIn, useSession } from '../../wallet/session.ts';
import { useShared, useTestWallet } from '../../wallet/wallets.ts';
import { keep } from '../agent/run/kept.ts';

const Result = lazy(() => import('../../parts/result/result.tsx'));

/** How many of the best agents are asked for an example. */
const MOST_ASKED = 6;

/** Also the height before anything is known, so that nothing moves. */
const FRAME =
  'mt-3 min-h-28 rounded-xl border border-line bg-raised px-4 py-3 text-sm sm:mt-6 sm:min-h-18 sm:px-5 sm:py-4';

export function FirstRun({ agents }: { agents: AgentSummary[] | undefined }) {
  const asked = (agents ?? []).filter(({ status }) => status === 'active').slice(0, MOST_ASKED);
  const examples = useQueries({ queries: asked.map(({ agent_id }) => exampleQuery(agent_id)) });
  // Waits for those before it, so that the offer does not change under the visitor's hand.
  const at = examples.findIndex(({ data, isPending }) => isPending || data);
  const agent = asked[at];
  const example = examples[at]?.data;
  const { wallet, isKnown } = useSession();
  const isShared = useShared();
  const navigate = useNavigate();
  const testWallet = useTestWallet();
  const price = agent && `${formatNumber(agent.price_per_call_usdc)} test USDC`;
  const run = useMutation({
    mutationFn: async () => {
      if (!agent || !example || !testWallet) return;
      if (!wallet) await signIn(testWallet);
      const { task, parameters } = example;
      keep(agent.agent_id, { task, parameters, timeout: '', call: null, isAtOnce: true });
      await navigate({
        to: '/agents/$agentId',
        params: { agentId: agent.agent_id },
        search: { tab: 'run' },
      });
    },
  });
  if (agents && at === -1) return null;
  if (!agent || !example) return <div className={FRAME} />;
  if (developmentWalletsPath() === '') {
    return (
      <details className={FRAME}>
        <summary className="py-1.5">
          See what “{agent.name}” answers <span className="font-normal text-faint">(a recorded run)</span>
        </summary>
        <div className="mt-3 grid gap-3">
          <p className="text-faint">
            Recorded in its creator’s test, <Time at={example.tested_at} />. The marketplace has checked the signature.
          </p>
          <p>
            <span className="text-faint">Task: </span>
            {example.task}
          </p>
          <Suspense fallback={<Skeleton className="h-40" />}>
            <Result text={example.result} name={agent.name} />
          </Suspense>
        </div>
      </details>
    );
  }
  return (
    <section
      aria-label="First run"
      className={`${FRAME} grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 sm:gap-x-6`}
    >
      <p className="font-medium max-sm:line-clamp-2">
        Try {agent.name}
        <span className="font-normal text-faint max-sm:hidden">: “{agent.tagline.replace(/\.$/, '')}”</span>
      </p>
      <p className="text-faint max-sm:col-span-2">
        {wallet && !isShared ? (
          `Your wallet pays ${price}.`
        ) : (
          <>
            Free: {!wallet && <span className="max-sm:hidden">it signs you in with </span>}a shared test wallet
            {!wallet && <span className="max-sm:hidden">, which</span>} pays {price}. Its other users see the call.
          </>
        )}
      </p>
      <SpendButton
        className="col-start-2 row-start-1 sm:row-end-3"
        busy={run.isPending}
        disabled={!isKnown || !testWallet}
        onClick={() => run.mutate()}
      >
        Run its example
      </SpendButton>
      <Failed error={run.error} title="It did not start" className="col-span-2" />
    </section>
  );
}
