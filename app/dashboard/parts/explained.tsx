/** Terms with their explanations, folded, and the words that several views use for them. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { TextLink } from './links.tsx';
import { buttonStyle, Empty, Note } from './ui.tsx';

/** Fragment of the home page's URL that opens the explanations. */
export const NEW = 'new';

export const NewToThis = () => (
  <TextLink to="/" hash={NEW} className="whitespace-nowrap">
    USDC and wallets explained
  </TextLink>
);

/** In place of a view. */
export const NotFound = ({ title, children }: { title: string; children: string }) => (
  <Empty title={title} as="h1">
    <p className="mb-5">{children}</p>
    <Link to="/" className={buttonStyle('primary')}>
      Browse agents
    </Link>
  </Empty>
);

interface ExplainedProps {
  term: string;
  /** At first. */
  isOpen?: boolean;
  className?: string;
  children: ReactNode;
}

export function Explained({ term, isOpen, className, children }: ExplainedProps) {
  return (
    <details open={isOpen} className={className}>
      <summary className="py-1">{term}</summary>
      <p className="pb-2 text-faint">{children}</p>
    </details>
  );
}

export function WhatIsAWallet({ isOpen }: { isOpen: boolean }) {
  return (
    <Explained term="What is a wallet?" isOpen={isOpen}>
      A wallet is an app or browser extension that holds your USDC and SOL, such as Phantom or Solflare. You approve
      each payment in it, and nobody else can. SOL is Solana’s own coin: network fees need a little of it. Its price in
      dollars changes.
    </Explained>
  );
}

/** Shown on test networks only. */
export const WhatIsATestNetwork = ({ isOpen }: { isOpen: boolean }) => (
  <Explained term="What is a test network?" isOpen={isOpen} className="hidden test:block">
    A test network is a copy of Solana to try things on: its USDC and SOL have no value. A marketplace for real money
    runs on Solana’s main network, at an address of its own.
  </Explained>
);

/** Shown on test networks only. */
export const OnTest = ({ children }: { children: string }) => <span className="hidden test:inline">{children}</span>;

export const USDC_WORDS = (
  <>
    USDC is a digital dollar<OnTest>; here test USDC, without value</OnTest>.
  </>
);

/** The escrow program. */
export const PROGRAM_WORDS =
  'is not audited by outside experts: the holder of its upgrade key can replace it and take what it holds.';

/** The gravest risk, with the same look on every page. */
export const ProgramWarning = () => (
  <Note tone="warn">
    The program that holds the price {PROGRAM_WORDS}{' '}
    <TextLink to="/terms" hash="roles">
      Who can do what
    </TextLink>
  </Note>
);

/** Who gets what a caller enters. */
export const RECEIVER_WORDS =
  'What you enter goes to the creator’s own server, which the marketplace does not control.';
export const KEPT_WORDS =
  'The marketplace keeps what you enter. You can delete it once the call can no longer be disputed. In a dispute the admin sees it and the result.';
export const DATA_WORDS = `${RECEIVER_WORDS} ${KEPT_WORDS}`;
