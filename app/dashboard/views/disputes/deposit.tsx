/** The deposit of a dispute's account and the bond in it, as the chain shows them now. Without web3.js. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { decodeOwnInText, disputeAddress, recordAddress } from '../../../sdk/receipt/onChain.ts';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Day, formatLamports } from '../../parts/values.tsx';
import { readAccounts } from '../../wallet/accounts.ts';
import { ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { idBytes } from '../executions/record.ts';

/** Lamports. */
export interface HeldDeposit {
  deposit: bigint;
  bond: bigint;
  /** The wallet that paid both, base58. */
  sponsor: string;
}

/** In the order of the ids; null where there is no account, or no longer. */
export async function readDeposits(executionIds: readonly string[]): Promise<(HeldDeposit | null)[]> {
  const accounts = await readAccounts(executionIds.map((id) => disputeAddress(recordAddress(idBytes(id)))));
  return accounts.map((account) => {
    const dispute = decodeOwnInText('Dispute', account);
    return dispute && account
      ? { deposit: account.lamports - dispute.bond, bond: dispute.bond, sponsor: dispute.rentSponsor }
      : null;
  });
}

export const depositQuery = ({ execution_id: id, outcome, owed_usdc }: DisputeSummary) =>
  queryOptions({
    queryKey: ['dispute-deposit', id, outcome, owed_usdc],
    queryFn: async () => (await readDeposits([id]))[0] ?? null,
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });

/** When the deposit comes back, ISO 8601; null while the dispute is open or owes its award. */
const depositBackAt = ({ resolved_at, owed_usdc }: DisputeSummary): string | null =>
  resolved_at === null || owed_usdc > 0
    ? null
    : new Date(Date.parse(resolved_at) + ENDED_DISPUTE_SECONDS * 1_000).toISOString();

export function DepositState({ dispute }: { dispute: DisputeSummary }) {
  const { data: held } = useQuery(depositQuery(dispute));
  if (held === undefined) return null;
  if (held === null) return <>Your deposit has come back.</>;
  const at = depositBackAt(dispute);
  const deposit = formatLamports(held.deposit);
  if (at === null)
    return <>Your deposit of {deposit} for the dispute’s account comes back once the award is claimed.</>;
  return (
    <>
      Your deposit of {deposit} for the dispute’s account comes back on <Day at={at} />.
    </>
  );
}
