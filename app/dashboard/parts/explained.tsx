/** A term with its explanation, folded. */
import type { ReactNode } from 'react';

export function Explained({ term, children }: { term: string; children: ReactNode }) {
  return (
    <details>
      <summary className="py-1 font-medium text-accent">{term}</summary>
      <p className="pb-2 text-faint">{children}</p>
    </details>
  );
}

export function WhatIsAWallet() {
  return (
    <Explained term="What is a wallet?">
      A wallet is an app or browser extension that holds your USDC and SOL, such as Phantom or Solflare. You approve
      each payment in it, and nobody else can. SOL is the network’s own coin; its price in dollars changes.
    </Explained>
  );
}

/** Who gets what a caller enters. */
export const DATA_WORDS =
  'What you enter goes to the creator’s own server, which the marketplace does not control. The marketplace keeps it with the result, and shows both to the admin in a dispute. Once the call can no longer be disputed, you can delete both from the marketplace.';
