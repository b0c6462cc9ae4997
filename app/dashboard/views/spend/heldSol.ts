/** The SOL of a wallet that disputes, keys and calls hold, as API and chain show it now. Lamports. */
import { queryOptions } from '@tanstack/react-query';
import { decodeOwnInText, escrowAddress, recordAddress } from '../../../sdk/receipt/onChain.ts';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { request } from '../../service.ts';
import { readAccounts } from '../../wallet/accounts.ts';
import { ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { readDeposits } from '../disputes/deposit.tsx';
import { idBytes } from '../executions/record.ts';

export interface HeldInDisputes {
  bonds: bigint;
  deposits: bigint;
}

/** The disputes that may still hold something of the wallet. */
const mayHold = ({ outcome, resolved_at, owed_usdc }: DisputeSummary): boolean =>
  outcome === 'open' ||
  owed_usdc > 0 ||
  resolved_at === null ||
  // A day later, because the marketplace closes it a moment after it may.
  Date.parse(resolved_at) + (ENDED_DISPUTE_SECONDS + 86_400) * 1_000 > Date.now();

export const heldInDisputesQuery = (wallet: string, disputes: readonly DisputeSummary[] | undefined) => {
  const asked = (disputes ?? []).filter((dispute) => dispute.caller === wallet && mayHold(dispute));
  return queryOptions({
    queryKey: ['held-in-disputes', wallet, ...asked.map(({ execution_id, outcome }) => `${execution_id} ${outcome}`)],
    queryFn: async (): Promise<HeldInDisputes> => {
      const read = await readDeposits(asked.map(({ execution_id }) => execution_id));
      const held = read.filter((account) => account?.sponsor === wallet);
      const sum = (name: 'bond' | 'deposit') => held.reduce((all, account) => all + (account?.[name] ?? 0n), 0n);
      return { bonds: sum('bond'), deposits: sum('deposit') };
    },
    enabled: disputes !== undefined,
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });
};

/** The newest calls that are read. A record stays about an hour, so older ones rarely hold anything. */
export const NEWEST = 100;

const isByWallet = ({ key_id, deposit }: ExecutionSummary): boolean => key_id === null && deposit === null;

/** Deposits of calls that the wallet itself opened. Those of keys and x402 clients are lent by others. */
export const heldInCallsQuery = (wallet: string) =>
  queryOptions({
    queryKey: ['held-in-calls', wallet],
    queryFn: async (): Promise<bigint> => {
      const { executions } = await request('listExecutions', { limit: NEWEST });
      const records = executions.filter(isByWallet).map(({ execution_id }) => recordAddress(idBytes(execution_id)));
      const accounts = await readAccounts(records.flatMap((record) => [record, escrowAddress(record)]));
      let deposits = 0n;
      for (let at = 0; at < records.length; at += 1) {
        const [account, escrow] = [accounts[2 * at], accounts[2 * at + 1]];
        const record = decodeOwnInText('ExecutionRecord', account);
        if (record?.rentSponsor !== wallet) continue;
        deposits += account!.lamports;
        // The end takes the gas out of the record, and closes the escrow's account.
        if (record.status === 'open') deposits += (escrow?.lamports ?? 0n) - BigInt(record.gasLamports);
      }
      return deposits;
    },
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });
