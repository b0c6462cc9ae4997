/** The head of one call. */
import { useMutation } from '@tanstack/react-query';
import { Avatar } from '../../parts/avatar.tsx';
import { Failed } from '../../parts/failed.tsx';
import { Back, HeadFacts } from '../../parts/heads.tsx';
import { Chevron } from '../../parts/icons.tsx';
import { CellLink, TextLink } from '../../parts/links.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { download } from '../../parts/range.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { buttonStyle, cx, PageHead } from '../../parts/ui.tsx';
import { Id, shorten, Time } from '../../parts/values.tsx';
import { RunAgain } from './asked.tsx';
import type { Execution } from './facts.tsx';
import { outcomeOf } from './outcome.ts';
import { isUnderWay } from './polling.ts';
import { OutcomeBadge, shortTask } from './rows.tsx';

/** Task and agent, outcome and time, and the ways to keep or check a receipt. */
export function Head({ execution }: { execution: Execution }) {
  const { execution_id: id, agent_id, agent_name, task } = execution;
  const To = task === null ? CellLink : TextLink;
  const agent = (
    <To to="/agents/$agentId" params={{ agentId: agent_id }}>
      {agent_name ?? shorten(agent_id)}
    </To>
  );
  return (
    <>
      <Back to="/executions">Your calls</Back>
      <PageHead
        title={
          task === null ? (
            agent
          ) : (
            <span className="line-clamp-2 break-words" title={task}>
              {shortTask(task)}
            </span>
          )
        }
        about={
          <>
            {task !== null && (
              <span className="mb-2 flex items-center gap-2 text-sm font-medium text-ink">
                <Avatar address={agent_id} className="size-6" />
                {agent}
              </span>
            )}
            <HeadFacts
              facts={[
                <OutcomeBadge key="outcome" call={execution} outcome={outcomeOf(execution)} />,
                <Time key="time" at={execution.initiated_at} hasSeconds />,
                <span key="id">
                  Call ID <Id value={id} full />
                </span>,
              ]}
            />
          </>
        }
      >
        <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
          {!isUnderWay(execution) && <RunAgain execution={execution} />}
          {/* These links load new documents, whose CSP allows requests to any node. */}
          <a href={verifyPath(id)} className={cx(buttonStyle(), 'only:col-span-2')}>
            Verify it yourself
          </a>
          <Receipt execution={execution} />
        </div>
      </PageHead>
    </>
  );
}

const verifyPath = (id: string): string => `/verify?id=${encodeURIComponent(id)}`;

/** A refunded call has none to download, but its check can be printed. */
function Receipt({ execution: { execution_id: id, creator_amount_usdc, refund } }: { execution: Execution }) {
  const notify = useNotify();
  const { mutate, error } = useMutation({
    mutationFn: async () => {
      await download(`/v1/executions/${encodeURIComponent(id)}/receipt`, `receipt-${id}.json`, 'application/json');
      notify('The receipt is saved', 'Keep it: it can be verified without this marketplace.');
    },
  });
  const printed = `${verifyPath(id)}&print=true`;
  if (creator_amount_usdc === 0) {
    if (refund !== 'done') return null;
    return (
      <a href={printed} className={buttonStyle()}>
        Print receipt
      </a>
    );
  }
  return (
    <>
      <Menu
        button={
          <>
            Receipt <Chevron className="-mr-1" />
          </>
        }
      >
        <MenuItem onSelect={() => mutate()}>Download (JSON)</MenuItem>
        <MenuItem onSelect={() => window.location.assign(printed)}>Print</MenuItem>
      </Menu>
      <Failed
        error={error}
        title="The receipt could not be downloaded"
        className="order-last col-span-full basis-full"
      />
    </>
  );
}
