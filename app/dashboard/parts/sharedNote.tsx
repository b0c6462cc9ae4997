/** What the others who use the shared test wallet do here; nothing for any other wallet. */
import type { ReactNode } from 'react';
import { useConnected, useShared, wasShared } from '../wallet/wallets.ts';

export function SharedNote({ children }: { children: ReactNode }) {
  const isShared = useShared();
  // Until the wallet is connected again, so that nothing moves then.
  const isUnknown = useConnected() === null;
  if (!isShared && !(isUnknown && wasShared())) return null;
  return <p className="mb-6 max-w-2xl text-sm text-faint">{children}</p>;
}
