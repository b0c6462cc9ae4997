/** What is sold here, for a person who has never heard of it, and a first run. */
import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { SpendButton } from '../../parts/badges.tsx';
import { Explained, NEW, OnTest, PROGRAM_WORDS, WhatIsATestNetwork, WhatIsAWallet } from '../../parts/explained.tsx';
import { Failed } from '../../parts/failed.tsx';
import { Anchor, TextLink } from '../../parts/links.tsx';
import { NumberMark } from '../../parts/stepList.tsx';
import { Skeleton } from '../../parts/ui.tsx';
import { formatLamports, formatNumber, formatSpan, Time } from '../../parts/values.tsx';
import { configQuery, developmentWalletsPath, exampleQuery } from '../../service.ts';
import { signIn, useSession } from '../../wallet/session.ts';
import { useShared, useTestWallet } from '../../wallet/wallets.ts';
import { keep } from '../agent/run/kept.ts';

/** `agents`: the first of them that has an example can be tried at once; undefined until they are known. */
export function Welcome({ agents }: { agents: AgentSummary[] | undefined }) {
  const { data: config } = useQuery(configQuery);
  const isNew = useLocation({ select: ({ hash }) => hash === NEW });
  const bond = config ? ` of ${formatLamports(config.dispute_bond_lamports)}` : '';
  const days = config ? ` within ${formatSpan(config.dispute_window_seconds)}` : '';
  const steps = [
    [
      'Pick an agent: it does one kind of task',
      'It runs on its creator’s own server. Each request is a call, at a fixed price.',
    ],
    [
      <>
        Pay in USDC, a digital dollar<OnTest> (here: no value)</OnTest>
      </>,
      'From a wallet, plus a little SOL, Solana’s own coin. A program on Solana holds the price.',
    ],
    [
      'Get a signed result, or a refund',
      `Signed: the creator puts its name to it. It can be wrong: then dispute it${days}.`,
    ],
  ] as const;
  return (
    <header className="mb-4 sm:mb-8">
      {/* On a phone all of this is short: the first agents begin on the first screen. */}
      <h1 className="max-w-2xl text-2xl font-semibold sm:text-4xl">AI agents that you pay per call</h1>
      <p className="mt-3 max-w-2xl text-lg text-faint max-sm:hidden">
        No subscription. Without a signed result, you get the price back.
      </p>
      <ol className="mt-3 grid gap-x-8 gap-y-1.5 text-sm sm:mt-6 sm:grid-cols-3">
        {steps.map(([title, about], index) => (
          <li key={about} className="grid grid-cols-[1.75rem_1fr] gap-x-3">
            <NumberMark number={index + 1} />
            <div>
              <p className="pt-1 font-medium sm:pt-0.5">{title}</p>
              <p className="mt-1 text-faint max-sm:hidden">{about}</p>
              {index === steps.length - 1 && (
                <p className="text-faint sm:hidden">It can be wrong: then you can dispute it.</p>
              )}
            </div>
          </li>
        ))}
      </ol>
      <p className="mt-4 border-l-2 border-warn pl-3 text-sm sm:mt-5">
        The program that holds the price {PROGRAM_WORDS}
        <span className="max-sm:hidden">
          {' '}
          If you lose a dispute, you lose a bond{bond}.<OnTest> Here the price and the bond are test money.</OnTest>
        </span>
      </p>
      <div
        id={NEW}
        className="mt-3 flex flex-wrap items-start gap-x-3 gap-y-1 text-sm sm:mt-4 sm:gap-x-8 sm:border-t sm:border-line sm:pt-3"
      >
        <div className="contents max-sm:hidden">
          <Answers isNew={isNew} />
        </div>
        {/* A phone has room for the first agent only if the explanations are one line. */}
        <details open={isNew} className="open:basis-full sm:hidden">
          <summary className="py-1">How it works</summary>
          <ol className="list-decimal space-y-1 pb-1 pl-5 text-faint">
            {steps.map(([title, about]) => (
              <li key={about}>
                {title}. {about}
              </li>
            ))}
          </ol>
          <Answers isNew={isNew} />
        </details>
        <Explained term="Can I trust it?" className="open:basis-full">
          The marketplace checks the creator’s signature of a result, not whether the result is right. Its admin decides
          disputes. If you lose one, you lose{' '}
          <TextLink to="/terms" hash="disputes">
            a bond{bond}
          </TextLink>
          .{' '}
          <TextLink to="/terms" hash="roles">
            Who can do what
          </TextLink>
        </Explained>
        <Anchor href="/docs" className="py-1 font-medium sm:ml-auto">
          API docs
        </Anchor>
      </div>
      <FirstRun agents={agents} />
    </header>
  );
}

/** `isNew`: asked for by a link, so the first two are open. */
function Answers({ isNew }: { isNew: boolean }) {
  return (
    <>
      <Explained term="What is USDC?" isOpen={isNew}>
        USDC is a digital dollar: one USDC can be exchanged for one US dollar. You buy it at a crypto exchange and send
        it to your wallet.<OnTest> The test USDC of this network has no value.</OnTest>
      </Explained>
      <WhatIsATestNetwork isOpen={isNew} />
      <WhatIsAWallet isOpen={isNew} />
      <Explained term="What is Solana?">
        Solana is a public network of computers that records payments. “The chain” is that record: anybody can read it,
        and the marketplace cannot rewrite it. The escrow program runs there. It holds the price of each call until
        there is a result, or returns it.
      </Explained>
    </>
  );
}

const Result = lazy(() => import('../../parts/result/result.tsx'));

/** How many of the best agents are asked for an example. */
const MOST_ASKED = 6;

/** Also the height before anything is known, so that nothing moves. */
const FRAME =
  'mt-3 min-h-28 rounded-xl border border-line bg-raised px-4 py-3 text-sm sm:mt-6 sm:min-h-18 sm:px-5 sm:py-4';

function FirstRun({ agents }: { agents: AgentSummary[] | undefined }) {
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
  const price = agent && `${formatNumber(agent.price_per_call_usdc)} USDC`;
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
        <span className="max-sm:sr-only">Try </span>
        {agent.name}
        <span className="font-normal text-faint max-sm:hidden">: “{agent.tagline.replace(/\.$/, '')}”</span>
      </p>
      <p className="text-faint max-sm:col-span-2">
        {wallet && !isShared
          ? `Your wallet pays ${price}.`
          : `Free: ${wallet ? 'the shared test wallet' : 'signs you in with a shared test wallet, which'} pays ${price}. Its other users see the call.`}
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
