/** The SOL that a listing costs besides its collateral. */
import { useQuery } from '@tanstack/react-query';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { configQuery } from '../../service.ts';
import { depositsQuery } from '../../wallet/programTerms.ts';

/** The SOL of a new listing; without figures until the node has given them. */
export function AccountDeposits() {
  const { data: config } = useQuery(configQuery);
  const { data: deposits } = useQuery(depositsQuery(config?.rpc_url));
  if (!deposits) return <>the network fee, and the deposits of the listing’s accounts.</>;
  const sol = (lamports: number) => <span className="tabular-nums">{formatSol(BigInt(lamports))} SOL</span>;
  return (
    <>
      {sol(deposits.kept)} that stay in the listing’s accounts, {sol(deposits.vault)} that come back with the
      collateral, and the network fee.
    </>
  );
}
