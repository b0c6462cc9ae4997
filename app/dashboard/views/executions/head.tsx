/** The head of one call. */
import { Link } from '@tanstack/react-router';
import { toError } from '../../../sdk/client/http.ts';
import { Back, HeadFacts } from '../../parts/heads.tsx';
import { SaveButton } from '../../parts/saveButton.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { buttonStyle, cx, PageHead, QUIET_LINK } from '../../parts/ui.tsx';
import { Id, saveFile, shorten, Time } from '../../parts/values.tsx';
import { RunAgain } from './asked.tsx';
import type { Execution } from './facts.tsx';
import { outcomeOf } from './outcome.ts';
import { isUnderWay } from './polling.ts';
import { OutcomeBadge } from './rows.tsx';

/** Characters of a task beside the agent's name; the whole task is below. */
const TITLE_CHARACTERS = 80;

const shortTask = (task: string): string =>
  task.length > TITLE_CHARACTERS ? `${task.slice(0, TITLE_CHARACTERS)}…` : task;

/** Agent and task, outcome and time, and the ways to keep or check a receipt. */
export function Head({ execution }: { execution: Execution }) {
  const notify = useNotify();
  const { execution_id: id, agent_id, agent_name } = execution;
  const isSettled = execution.creator_amount_usdc > 0;
  const saveReceipt = async () => {
    saveFile(`receipt-${id}.json`, await readReceipt(id));
    notify('The receipt is saved', 'Keep it: it can be verified without this marketplace.');
  };
  return (
    <>
      <Back to="/executions">Your calls</Back>
      <PageHead
        title={
          <>
            <Link to="/agents/$agentId" params={{ agentId: agent_id }} className={cx('decoration-1', QUIET_LINK)}>
              {agent_name ?? shorten(agent_id)}
            </Link>{' '}
            {execution.task !== null && (
              <span className="mt-1.5 block text-base font-normal text-faint">{shortTask(execution.task)}</span>
            )}
          </>
        }
        about={
          <HeadFacts
            facts={[
              <OutcomeBadge key="outcome" call={execution} outcome={outcomeOf(execution)} />,
              <Time key="time" at={execution.initiated_at} hasSeconds />,
              <span key="id">
                Call ID <Id value={id} full />
              </span>,
            ]}
          />
        }
      >
        {!isUnderWay(execution) && <RunAgain execution={execution} />}
        {isSettled && (
          <SaveButton work={saveReceipt} failed="The receipt could not be downloaded">
            Download receipt (JSON)
          </SaveButton>
        )}
        {/* These links load new documents, whose CSP allows requests to any node. */}
        {(isSettled || execution.refund === 'done') && (
          <a href={`/verify?id=${encodeURIComponent(id)}&print=true`} className={buttonStyle()}>
            Print receipt
          </a>
        )}
        <a href={`/verify?id=${encodeURIComponent(id)}`} className={buttonStyle()}>
          Verify it yourself
        </a>
      </PageHead>
    </>
  );
}

/** Returns the marketplace's bytes unchanged. */
async function readReceipt(executionId: string): Promise<string> {
  const response = await fetch(`/v1/executions/${encodeURIComponent(executionId)}/receipt`);
  if (!response.ok) throw toError(response, await response.json().catch(() => null));
  return response.text();
}
