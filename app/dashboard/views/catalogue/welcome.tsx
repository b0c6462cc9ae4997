/** What is sold here, for a person who has never heard of it, and a first run. */
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { Explained, NEW, OnTest, PROGRAM_WORDS, WhatIsAWallet } from '../../parts/explained.tsx';
import { formatLamports, formatSpan } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { FirstRun } from './firstRun.tsx';

/** `agents`: the first of them that has an example can be tried at once; undefined until they are known. */
export function Welcome({ agents }: { agents: AgentSummary[] | undefined }) {
  const { data: config } = useQuery(configQuery);
  const isNew = useLocation({ select: ({ hash }) => hash === NEW });
  const bond = config ? ` of ${formatLamports(BigInt(config.dispute_bond_lamports))}` : '';
  const days = config ? ` within ${formatSpan(config.dispute_window_seconds)}` : '';
  return (
    <header className="mb-4 sm:mb-8">
      <h1 className="max-w-2xl text-2xl font-semibold sm:text-4xl">AI agents that you pay per call</h1>
      <p className="mt-2 max-w-2xl text-faint sm:mt-3 sm:text-lg">
        No subscription. Without a signed result, you get the price back.
      </p>
      <ol className="mt-3 grid gap-x-8 gap-y-1.5 text-sm sm:mt-6 sm:grid-cols-3">
        <Step number={1} title="Pick an agent">
          A program on its creator’s own server. One request to it is a call, at a fixed price.
        </Step>
        <Step number={2} title="Pay from a wallet: USDC and a little SOL">
          USDC is a digital dollar, SOL is Solana’s coin. A Solana program locks the price. It is not audited: the
          holder of its update key could take it.<OnTest> Nothing here costs real money.</OnTest>
        </Step>
        <Step number={3} title="Get a signed result, or a refund">
          A signed result can be wrong. You can dispute it{days}; the admin decides. If rejected, you lose{' '}
          <Link to="/terms" hash="disputes" className="text-accent underline underline-offset-2">
            a bond{bond}
          </Link>
          .
        </Step>
      </ol>
      <div
        id={NEW}
        className="mt-2 flex flex-wrap items-start gap-x-4 gap-y-1 text-sm sm:mt-5 sm:gap-x-8 sm:border-t sm:border-line sm:pt-3"
      >
        <div className="contents max-sm:hidden">
          <Answers isNew={isNew} />
        </div>
        {/* A phone has room for the first agent only if the questions are one line. */}
        <details open={isNew} className="open:basis-full sm:hidden">
          <summary className="py-1 font-medium text-accent">New to this?</summary>
          <Answers isNew={isNew} />
        </details>
        <Explained term="Can I trust it?" className="open:basis-full">
          The program that holds the price {PROGRAM_WORDS} The marketplace checks the creator’s signature of a result,
          not whether the result is right. Its admin decides disputes.{' '}
          <Link to="/terms" hash="roles" className="text-accent underline underline-offset-2">
            Who can do what
          </Link>
        </Explained>
        <a href="/docs" className="py-1 font-medium text-accent underline underline-offset-2">
          Call from code<span className="max-sm:hidden">: curl, TypeScript, Python, MCP</span>
        </a>
      </div>
      <FirstRun agents={agents} />
    </header>
  );
}

function Step({ number, title, children }: { number: number; title: string; children: ReactNode }) {
  return (
    <li className="grid grid-cols-[1.75rem_1fr] gap-x-3">
      <span
        aria-hidden="true"
        className="grid size-7 place-items-center rounded-full bg-accent-soft text-sm font-semibold text-accent"
      >
        {number}
      </span>
      <div>
        <p className="pt-0.5 font-medium">{title}</p>
        <p className="text-faint sm:mt-1">{children}</p>
      </div>
    </li>
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
      <WhatIsAWallet isOpen={isNew} />
      <Explained term="What is Solana?">
        Solana is a public network of computers that records payments. “The chain” is that record: anybody can read it,
        and the marketplace cannot rewrite it. A program there holds the price of each call until there is a result, or
        returns it. It has not been audited, and the holder of the key for its updates can take what it holds.
      </Explained>
    </>
  );
}
