/** A title for each problem of the service, and what to do about it; the same for what is about to become one. */
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import type { Problem } from '../../../sdk/wire/wire.ts';
import { formatShortSol } from '../../parts/amount.ts';
import { formatSpan } from '../../parts/values.tsx';

interface Words {
  title: string;
  todo: string;
}

export const PROBLEM_WORDS: Record<Problem, Words> = {
  chain_unreachable: {
    title: 'The Solana node does not answer',
    todo: 'Check the status of the node, or set SOLANA_RPC_URL to another one and restart the relay. Calls in progress continue when it answers again.',
  },
  clock_wrong: {
    title: 'The clock of the relay’s machine is wrong',
    todo: 'Set it by NTP. New calls are accepted again within seconds after that.',
  },
  chain_behind: {
    title: 'The newest final block of the node is old',
    todo: 'Check the node and the status of the cluster. Calls in progress wait. New ones are accepted again when the node has caught up.',
  },
  chain_restarted: {
    title: 'The cluster was restarted',
    todo: 'The indexer rebuilds its tables, then the ledger is compared with the chain. New calls are accepted after that. Check then whether calls are parked.',
  },
  index_behind: {
    title: 'The index is behind the chain',
    todo: 'Check that the indexer runs and that its node answers; its log shows the progress. Nothing is lost: it catches up by itself.',
  },
  ledger_unreconciled: {
    title: 'The records of this service are still being checked against the chain',
    todo: 'This takes a few seconds after a start. If it takes longer, the node does not answer, or a call cannot be settled; the log names it.',
  },
  authority_changed: {
    title: 'This relay can no longer settle',
    todo: 'Its key is no longer a relay authority on the chain. Register it again, or start the relay with a registered key.',
  },
  opens_paused: {
    title: 'New calls are paused',
    todo: 'The admin or the guardian paused them. Calls in progress are still settled or refunded. Settings shows whose pause it is. Each lifts its own.',
  },
  fees_low: {
    title: 'The relay has too little SOL for fees',
    todo: 'Send SOL to the address of this relay below. New calls are accepted again when it arrives.',
  },
  storage_low: {
    title: 'The relay has too little disk space',
    todo: 'Free space on the disk of its ledger. Calls in progress wait until then. New ones are accepted within 30 seconds after that.',
  },
  stopping: {
    title: 'The relay is stopping',
    todo: 'It finishes the calls in progress and accepts no new ones. If it should not stop, start it again.',
  },
};

/** Limits of the alarms in deploy/alerts.yml. */
const SHORT_HOURS = 24;
const LOW_PART = 0.1;

type Node = OperationState['nodes'][number];

const NODE_WORDS: Record<Node['state'], string> = {
  up: 'is in use',
  dead: 'does not answer',
  behind: 'is behind the chain',
  wrong: 'contradicts the others',
};

export const isUsed = ({ state }: Node): boolean => state === 'up';

/** What works only in part, or will soon stop, while the service itself works. */
export function warningsOf({
  problems,
  nodes,
  runway_hours,
  lamports,
  x402,
  archive_waiting,
}: OperationState): Words[] {
  const { free, lent } = lamports;
  const hasSol = !problems.includes('fees_low');
  const warnings: Words[] = [];
  if (hasSol && runway_hours !== null && runway_hours < SHORT_HOURS)
    warnings.push({
      title: `The relay’s SOL lasts ${formatSpan(runway_hours * 3_600)}`,
      todo: 'Send SOL to the address of this relay below. New calls are refused before it is used up.',
    });
  if (hasSol && free < LOW_PART * (free + lent))
    warnings.push({
      title: `Only ${formatShortSol(free)} is left for deposits`,
      todo: 'Send SOL to the address of this relay below, or raise LENT_LAMPORTS. Once it is used up, new calls by x402 are refused, and so are those whose gas balance cannot pay their deposit.',
    });
  // If none is in use, that is a problem of the service.
  if (nodes.some(isUsed))
    for (const node of nodes.filter((one) => !isUsed(one)))
      warnings.push({
        title: `The Solana node ${node.name} ${NODE_WORDS[node.state]}`,
        todo: 'Calls use the nodes that work. Check this one, or replace it in SOLANA_RPC_URL and restart the relay.',
      });
  if (x402 && x402.lamports !== null && x402.lamports < x402.min_lamports)
    warnings.push({
      title: 'New calls by x402 are refused: their payer has too little SOL',
      todo: 'Send SOL to the payer of calls by x402 below. Calls by API key and by wallet do not need it.',
    });
  if (archive_waiting?.is_late)
    warnings.push({
      title: 'Ended records are not archived in time',
      todo: 'The refundable deposits in them do not come back meanwhile. Search the log of the relay for “the sweep failed”, and check its node and the SOL of its authority.',
    });
  return warnings;
}
