/** The SOL of a wallet that disputes, keys and calls hold, as API and chain show it now. Lamports. */
import { queryOptions } from '@tanstack/react-query';
import { decodeOwnInText, escrowAddress, recordAddress } from '../../../sdk/receipt/onChain.ts';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import type { ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { request } from '../../service.ts';
import { readAccounts } from '../../wallet/accounts.ts';
import { ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { depositBackAt, readDeposits } from '../disputes/deposit.tsx';
import { idBytes } from '../executions/record.ts';

export interface HeldInDisputes {
  bonds: bigint;
  /** How many disputes are open. */
  open: number;
  /** The first day on which one of them can be ended without a decision, ISO 8601; null if none is open. */
  endableFrom: string | null;
  deposits: bigint;
  /** How many disputes hold a deposit. */
  held: number;
  /** The days on which deposits come back, ISO 8601, earliest first. The others wait for a decision or a claim. */
  backAt: string[];
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
      const held = asked.flatMap((dispute, at) => {
        const account = read[at];
        return account?.sponsor === wallet ? [{ dispute, ...account }] : [];
      });
      const open = held.filter(({ dispute }) => dispute.outcome === 'open');
      const sum = (amounts: bigint[]) => amounts.reduce((all, amount) => all + amount, 0n);
      return {
        bonds: sum(held.map(({ bond }) => bond)),
        open: open.length,
        endableFrom: open.map(({ dispute }) => dispute.lapses_at).sort()[0] ?? null,
        deposits: sum(held.map(({ deposit }) => deposit)),
        held: held.length,
        backAt: held.flatMap(({ dispute }) => depositBackAt(dispute) ?? []).sort(),
      };
    },
    enabled: disputes !== undefined,
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });
};

export interface HeldInCalls {
  deposits: bigint;
  /** Older calls than those that were read may hold deposits, too. */
  isPartial: boolean;
}

/** The newest calls that are read. A record stays about an hour, so older ones rarely hold anything. */
const NEWEST = 100;

const isByWallet = ({ key_id, deposit }: ExecutionSummary): boolean => key_id === null && deposit === null;

/** Deposits of calls that the wallet itself opened. Those of keys and x402 clients are lent by others. */
export const heldInCallsQuery = (wallet: string) =>
  queryOptions({
    queryKey: ['held-in-calls', wallet],
    queryFn: async (): Promise<HeldInCalls> => {
      const { executions, total } = await request('listExecutions', { limit: NEWEST });
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
      return { deposits, isPartial: total > NEWEST };
    },
    // React Query cannot compare a bigint by content.
    structuralSharing: false,
  });
