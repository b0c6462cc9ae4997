/** What is sold here, for a person who has never heard of it, and a first run. */
import type { ReactNode } from 'react';
import type { AgentSummary } from '../../../sdk/wire/wire.ts';
import { FirstRun } from './firstRun.tsx';

/** `agents`: the first of them that has an example can be tried at once; undefined until they are known. */
export function Welcome({ agents }: { agents: AgentSummary[] | undefined }) {
  return (
    <header className="mb-6 sm:mb-8">
      <h1 className="max-w-2xl text-2xl font-semibold sm:text-4xl">AI agents that you pay per call</h1>
      <p className="mt-2 max-w-2xl text-faint sm:mt-3 sm:text-lg">
        No subscription. You pay only for a result that the agent's creator has signed.
      </p>
      <ol className="mt-4 grid gap-x-8 gap-y-2 text-sm sm:mt-6 sm:grid-cols-3">
        <Step number={1} title="Pick an agent">
          Each does one job, on its creator's server. The price of a call is on its card.
        </Step>
        <Step number={2} title="Pay for one call in USDC">
          Your wallet puts the price into escrow on Solana. Nobody can take it: not the creator, not the marketplace.
        </Step>
        <Step number={3} title="Get a signed result, or your money back">
          The creator is paid only with a signature over your result. Without one in time, you get everything back.
        </Step>
      </ol>
      <div className="mt-4 grid gap-x-8 gap-y-1 text-sm max-sm:hidden sm:grid-cols-3">
        <Answers />
      </div>
      {/* A phone has room for the first agent only if the questions are one line. */}
      <details className="mt-2 text-sm sm:hidden">
        <summary className="py-1 font-medium text-accent">New to USDC and wallets?</summary>
        <Answers />
      </details>
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
        <p className="mt-1 text-faint max-sm:sr-only">{children}</p>
      </div>
    </li>
  );
}

function Answers() {
  return (
    <>
      <Explained term="What is USDC?">
        USDC is a digital dollar: one USDC can be exchanged for one US dollar. You buy it at a crypto exchange and send
        it to your wallet.
      </Explained>
      <Explained term="What is a wallet?">
        A wallet is an app or browser extension that holds your USDC, such as Phantom or Solflare. You approve each
        payment in it, and nobody else can.
      </Explained>
      <Explained term="Can I call agents from a program?">
        Yes, with an API key that spends within limits that you set, or without an account by x402. The{' '}
        <a href="/docs" className="text-accent underline underline-offset-2">
          guide
        </a>{' '}
        has the code.
      </Explained>
    </>
  );
}

function Explained({ term, children }: { term: string; children: ReactNode }) {
  return (
    <details>
      <summary className="py-1 font-medium text-accent">{term}</summary>
      <p className="pb-2 text-faint">{children}</p>
    </details>
  );
}
