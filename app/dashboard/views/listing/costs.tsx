/** The SOL that a listing costs besides its collateral. */
import { useQuery } from '@tanstack/react-query';
import { formatLamports } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { depositsQuery } from '../../wallet/deposits.ts';
import { collateralRange } from './own.ts';

/** A sum is rounded up to this, lamports, which leaves room for the network fee. */
const ROUNDED_TO = 1_000_000n;

export function useListingDeposits() {
  const { data } = useQuery(depositsQuery);
  if (!data) return null;
  const about = ((data.kept + data.token) / ROUNDED_TO + 1n) * ROUNDED_TO;
  return { about: formatLamports(about), vault: data.token, kept: data.kept };
}

/** Four decimals are enough to decide by; the exact sum on hover. */
const Sol = ({ lamports }: { lamports: bigint }) => (
  <span title={formatLamports(lamports)}>{(Number(lamports) / 1e9).toFixed(4)}</span>
);

/** When a creator pays, and how much. Without figures until they are known. */
export function Payment() {
  const { data: config } = useQuery(configQuery);
  return (
    <>
      Seven steps. You pay only at the last one: the collateral of your price{config && ` (${collateralRange(config)})`}
      , and SOL. The collateral comes back only if you delist for good. <AccountDeposits /> Your draft stays in this
      browser until you sign.
    </>
  );
}

/** The SOL of a new listing, and its part that comes back. `isExact`: where the creator signs. */
export function AccountDeposits({ isExact = false }: { isExact?: boolean }) {
  const deposits = useListingDeposits();
  const sum = (lamports: bigint) => (isExact ? formatLamports(lamports) : <Sol lamports={lamports} />);
  if (!deposits) return <>The SOL is for the network fee and the deposits of the listing’s accounts.</>;
  return (
    <span className="tabular-nums">
      About {deposits.about}: {sum(deposits.vault)} comes back with the collateral, {sum(deposits.kept)} stays in the
      agent’s accounts on the chain, and the rest is the network fee.
    </span>
  );
}
