/** Before a signature that spends: the wallet's balance, and whether it is enough. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { tokenAddress } from '../../sdk/program/tokenAddress.ts';
import { configQuery, queryClient } from '../service.ts';
import { readAccounts, tokenOf } from '../wallet/accounts.ts';
import { formatLamports, formatShortSol, formatUnits } from './amount.ts';
import { Trouble } from './trouble.tsx';
import { Note } from './ui.tsx';

/** What a signature takes from the wallet, besides the network fee. */
export interface Spend {
  /** Base units. */
  usdc?: bigint;
  lamports?: bigint;
  /** What else the visitor can do if it is too little, such as "pay from another wallet". */
  instead?: string;
}

interface Funds {
  /** Base units; null if the wallet has no USDC account. */
  usdc: bigint | null;
  lamports: bigint;
}

interface Checked {
  /** True once the balance is known to be enough, or if nothing is spent. */
  isEnough: boolean;
  /** Why it cannot be signed yet; null if it can. */
  whyNot: string | null;
  /** The row of the balance. */
  rows: readonly (readonly [ReactNode, ReactNode])[];
  /** What to do about it. */
  notice: ReactNode;
}

export const fundsQuery = (address: string | undefined) =>
  queryOptions({
    queryKey: ['wallet-funds', address],
    queryFn: () => readFunds(address ?? ''),
    enabled: address !== undefined,
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });

/** `address`: the wallet that pays, base58; undefined while none is connected. */
export function useFunds(address: string | undefined, spend: Spend | undefined): Checked {
  const { usdc = 0n, lamports = 0n, instead } = spend ?? {};
  const isSpending = usdc > 0n || lamports > 0n;
  const { data, error, refetch } = useQuery({
    ...fundsQuery(address),
    enabled: isSpending && address !== undefined,
  });
  if (!isSpending) return { isEnough: true, whyNot: null, rows: [], notice: null };
  // The row is there from the beginning, so that nothing moves.
  const rowsOf = (value: ReactNode) => [['You have', value]] as const;
  if (address === undefined) {
    return { isEnough: false, whyNot: null, rows: rowsOf('Connect a wallet to see it'), notice: null };
  }
  if (!data) {
    const notice = error && <Trouble error={error} what="Your balance" onRetry={refetch} />;
    return { isEnough: false, whyNot: error ? null : 'Reading your balance …', rows: rowsOf('Reading …'), notice };
  }
  const missing = [
    usdc > (data.usdc ?? 0n) && formatUnits(usdc - (data.usdc ?? 0n)),
    lamports > data.lamports && formatLamports(lamports - data.lamports),
  ].filter((text) => text !== false);
  const held = [
    usdc > 0n && (data.usdc === null ? 'No USDC yet' : formatUnits(data.usdc)),
    lamports > 0n && formatShortSol(data.lamports),
  ].filter((text) => text !== false);
  return {
    isEnough: missing.length === 0,
    whyNot: null,
    rows: rowsOf(
      <span title={formatLamports(data.lamports)} className="inline-block">
        {held.join(', ')}
      </span>,
    ),
    notice: missing.length > 0 && (
      <Note tone="warn" title="This wallet has too little">
        Send it {missing.join(' and ')} more{instead && `, or ${instead}`}.
      </Note>
    ),
  };
}

async function readFunds(address: string): Promise<Funds> {
  const { usdc_mint } = await queryClient.ensureQueryData(configQuery);
  const [wallet, held] = await readAccounts([address, tokenAddress(address, usdc_mint)]);
  return { usdc: tokenOf(held)?.amount ?? null, lamports: wallet?.lamports ?? 0n };
}
