/** `open_dispute`, if a wallet is configured: it locks a bond, which is lost if the dispute is rejected. */
import * as z from 'zod';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import { explain, failure, value } from '../answers.ts';
import { approvalOf } from '../approval.ts';
import { ExecutionId, listed } from '../shapes.ts';
import { PAYS, type Tools } from './tool.ts';

const Claim = listed(
  z.strictObject({
    execution_id: ExecutionId,
    evidence: z.string().min(20).max(20_000).describe('What was asked, what came back, why it is wrong'),
  }),
);
const Opened = listed(
  z.object({
    execution_id: z.string(),
    evidence_hash: z.string(),
    bond_lamports: z.number(),
    signature: z.string(),
  }),
);

const UNKNOWN =
  'If the execution is disputed, the dispute is open. If it is still completed after two minutes, call open_dispute again.';

export function addDisputeTool({ server, market, payment }: Tools): void {
  const { dispute } = market;
  if (dispute === null) return;
  server.registerTool(
    'open_dispute',
    {
      title: 'Dispute a result',
      description:
        'Claim that a settled result is not what was paid for, within 3 days. Locks a bond in SOL that is lost if the claim is rejected. Only once for each execution. Ask the user first.',
      annotations: PAYS,
      inputSchema: Claim,
      outputSchema: Opened,
    },
    async ({ execution_id, evidence }, ctx) => {
      const message = `Dispute the execution ${execution_id}? This locks a bond in SOL, which is lost if the dispute is rejected.`;
      const approval = approvalOf(server, ctx, `dispute_${execution_id}`, message);
      if (approval.kind === 'ask') return approval.question;
      if (approval.kind === 'declined') return failure('The user declined the dispute.', 'Do not repeat it.');
      if (approval.kind === 'impossible')
        return failure(
          'A dispute needs the user’s approval, and this host cannot ask for it.',
          `Tell the user to run: npm run cli -- dispute open ${execution_id} --evidence FILE`,
        );
      try {
        return value({ execution_id, ...(await dispute(execution_id, evidence)) });
      } catch (error) {
        if (!(error instanceof Refusal)) return explain(error);
        const read = payment === 'key' ? 'Call get_execution, and tell the user.' : 'Tell the user.';
        return failure(error.message, error.code === 'outcome_unknown' ? `${read} ${UNKNOWN}` : read);
      }
    },
  );
}
