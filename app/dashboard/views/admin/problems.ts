/** What is in the way of the service, in words, and what to do about it. */
import type { Problem } from '../../../sdk/wire/wire.ts';

export const PROBLEM_WORDS: Record<Problem, { title: string; todo: string }> = {
  chain_unreachable: {
    title: 'The Solana node does not answer',
    todo: 'Look at the node’s own status, or give the relay another by SOLANA_RPC_URL and restart it. Executions that have begun go on when it answers again.',
  },
  index_behind: {
    title: 'The index is behind the chain',
    todo: 'See that the indexer runs and that its node answers; its log says where it stands. Nothing is lost: it catches up by itself.',
  },
  ledger_unreconciled: {
    title: 'The journal is still being compared with the chain',
    todo: 'This passes by itself within seconds of a start. If it stays, the node does not answer, or the log says which execution cannot be settled.',
  },
  authority_changed: {
    title: 'This relay may no longer settle',
    todo: 'Its key is not among the relay authorities on the chain. Put it back there, or start the relay with a key that is.',
  },
  authority_shared: {
    title: 'Another deployment signs with this relay’s authority',
    todo: 'Its log names the transaction. Stop that deployment, or give one of the two an authority of its own. Executions are taken again when it has been silent for two minutes.',
  },
  opens_paused: {
    title: 'New executions are paused',
    todo: 'The admin paused them. Those that have begun are settled or refunded; resume under Settings.',
  },
  fees_low: {
    title: 'The relay is short of SOL for fees',
    todo: 'Send SOL to the relay authority below. New executions are taken again as soon as the balance is seen.',
  },
  storage_low: {
    title: 'The relay is short of room on its disk',
    todo: 'Make room where its ledger is. Executions that have begun wait for it, and new ones are taken again within half a minute.',
  },
  stopping: {
    title: 'The relay is stopping',
    todo: 'It finishes what has begun and takes nothing new. Start it again if it was not meant to end.',
  },
};
