/** The SOL that a listing costs besides its collateral. */
import { useQuery } from '@tanstack/react-query';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { depositsQuery } from '../../wallet/deposits.ts';

/** The SOL of a new listing; without figures until the node has given them. */
export function AccountDeposits() {
  const { data: deposits } = useQuery(depositsQuery);
  if (!deposits) return <>the network fee, and the deposits of the listing’s accounts.</>;
  const sol = (lamports: bigint) => <span className="tabular-nums">{formatSol(lamports)} SOL</span>;
  return (
    <>
      {sol(deposits.kept)} that stay in the listing’s accounts, {sol(deposits.token)} that come back with the
      collateral, and the network fee.
    </>
  );
}
