/** The answer of a tool for an execution: its outcome, or the reason of its failure and where its price is. */
import { quote } from '../../sdk/wire/creatorsWords.ts';
import { failure, type ToolAnswer, value } from '../answers.ts';
import type { Execution } from '../market.ts';
import { outcomeOf } from '../shapes.ts';

const REFUNDS: Record<string, string> = {
  done: 'The price was refunded to the wallet in full: the call cost 0 USDC.',
  pending: 'The price is being refunded to the wallet in full.',
  waiting: "The price is refunded in full as soon as the wallet's USDC account exists and is not frozen.",
  unclaimed: 'The refund waits in full until the wallet claims it: npm run cli -- refund claim EXECUTION_ID.',
};

export const answerFor = (execution: Execution): ToolAnswer =>
  execution.status === 'failed' ? refunded(execution) : value(outcomeOf(execution));

function refunded({ execution_id, error, refund }: Execution): ToolAnswer {
  const reason = error ? `${quote(error.message)} (${error.code})` : 'no reason was given';
  const money = refund === null ? 'Nothing was charged.' : REFUNDS[refund];
  return failure(
    `The execution ${execution_id} failed: ${reason}. ${money}`,
    'Change the task or parameters if they caused it, repeat with a new idempotency_key, or choose another agent.',
  );
}
