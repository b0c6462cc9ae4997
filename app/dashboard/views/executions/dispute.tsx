/** A dispute: its state, due time and outcome, and the actions that anyone may take now. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { HEARING_SECONDS } from '../../../sdk/wire/choices.ts';
import type { DisputeSummary } from '../../../sdk/wire/procedures.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { CellLink } from '../../parts/links.tsx';
import { SignButton } from '../../parts/sign.tsx';
import { Badge, buttonStyle, Card, Facts } from '../../parts/ui.tsx';
import { Copy, formatAmount, formatLamports, formatSpan, shorten, Time } from '../../parts/values.tsx';
import { ENDED_DISPUTE_SECONDS } from '../../wallet/programTerms.ts';
import { Deadline } from '../disputes/deadline.tsx';
import { DepositState, depositQuery } from '../disputes/deposit.tsx';
import { endRows, endWords, Reason, WithoutEvidence } from '../disputes/ended.tsx';
import { MostAtStake } from '../disputes/mostAtStake.tsx';
import { callerGist, type Reader } from '../disputes/outcomes.tsx';
import { stakesQuery } from '../disputes/stakes.ts';
import { outcomeOfDispute } from './outcome.ts';
import { idBytes } from './record.ts';
import { shortTask, TaskLine } from './rows.tsx';

/** The agent and the price, by which people know a dispute. A name breaks only where a line cannot hold it. */
export function DisputeTitle({ dispute: { agent_name, agent_id, price_usdc } }: { dispute: DisputeSummary }) {
  return (
    <>
      Dispute over <span className="inline-block max-w-full">{agent_name ?? shorten(agent_id)},</span>{' '}
      <span className="whitespace-nowrap">{formatAmount(price_usdc)}</span>
    </>
  );
}

const taskTitle = ({ task, price_usdc }: DisputeSummary): string =>
  `${shortTask(task ?? 'Task no longer kept')}, ${formatAmount(price_usdc)}`;

interface DisputeCardProps {
  dispute: DisputeSummary;
  /** The visitor: the caller or the creator, base58. */
  wallet: string;
  /** In a list: with the agent's name and the price. */
  listed?: boolean;
  /** In the list of one agent: with the task in place of its name. */
  isOfAgent?: boolean;
}

export function DisputeCard({ dispute, wallet, listed = false, isOfAgent = false }: DisputeCardProps) {
  const isOpen = dispute.outcome === 'open';
  const isCaller = dispute.caller === wallet;
  const reader = isCaller ? 'caller' : 'creator';
  const { tone, words } = outcomeOfDispute(dispute.outcome);
  const lacksEvidence = isOpen && isCaller && !dispute.has_evidence;
  const isForCreator = isOpen && !isCaller;
  const mustReply = isForCreator && dispute.reply === null;
  // The caller's deposit, as the dispute's account holds it.
  const { data: held, error: unread } = useQuery({ ...depositQuery(dispute), enabled: isOpen && isCaller });
  const { data: stakes } = useQuery({
    ...stakesQuery(dispute.agent_id, dispute.execution_id),
    enabled: isForCreator,
  });
  const title = useId();
  const Heading = listed ? 'h3' : 'h2';
  return (
    <Card aria-labelledby={title} className="max-sm:flex max-sm:flex-col">
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3 max-sm:contents">
        <div className="max-sm:mb-4">
          <Heading className="flex flex-wrap items-center gap-2 font-semibold">
            <span id={title}>
              {isOfAgent ? taskTitle(dispute) : listed ? <DisputeTitle dispute={dispute} /> : 'Dispute'}
            </span>
            {/* The head of the call has it. */}
            {listed && <Badge tone={tone}>{words}</Badge>}
            {listed && lacksEvidence && <Badge tone="warn">Evidence missing</Badge>}
          </Heading>
          {listed && !isOfAgent && (
            <div className="mt-1 text-sm">
              <TaskLine task={dispute.task} />
            </div>
          )}
          <p className="mt-1 flex flex-wrap items-center gap-x-3 text-sm text-faint">
            <span>
              {isCaller ? 'You opened it on' : 'Opened by a caller on'} <Time at={dispute.opened_at} />
            </span>
            {listed && <CallOf dispute={dispute} reader={reader} />}
          </p>
        </div>
        {/* On a phone they close the card. */}
        <div className="flex flex-wrap gap-2 max-sm:order-last max-sm:mt-4">
          <DisputeActions dispute={dispute} />
          {[lacksEvidence && 'Upload evidence', mustReply ? 'Read and reply' : 'View dispute'].map(
            (label) =>
              label && (
                <Link
                  key={label}
                  to="/disputes/$executionId"
                  params={{ executionId: dispute.execution_id }}
                  className={buttonStyle(mustReply || label === 'Upload evidence' ? 'primary' : 'plain', true)}
                >
                  {label}
                </Link>
              ),
          )}
        </div>
      </div>
      {lacksEvidence && (
        <p className="mb-2 text-sm text-warn">
          The admin cannot read your evidence: only its hash is on the chain. Upload it before the decision.
        </p>
      )}
      {isOpen ? (
        <div className="mb-4">
          <Deadline dispute={dispute} as="p" reader={reader} />
          {isCaller && !listed && (
            <p className="mt-3 text-sm tabular-nums">{callerGist(BigInt(dispute.bond_lamports), dispute.price_usdc)}</p>
          )}
        </div>
      ) : (
        <p className="mb-4 max-w-3xl text-sm tabular-nums">
          {endWords(dispute, reader)} {isCaller && <DepositState dispute={dispute} />}
        </p>
      )}
      <div className="mb-4 empty:hidden">
        <WithoutEvidence dispute={dispute} reader={reader} />
      </div>
      <div className="mb-4 empty:hidden">
        <Reason dispute={dispute} />
      </div>
      <Facts
        rows={[
          isForCreator && stakes !== undefined && ['At stake', <MostAtStake key="stake" dispute={dispute} />],
          !isCaller && ['Your reply', <OwnReply key="reply" dispute={dispute} />],
          dispute.bond_lamports > 0 && [
            isCaller ? 'Bond held' : 'Caller’s bond',
            `${formatLamports(dispute.bond_lamports)}${isForCreator ? ', yours if it is rejected' : ''}`,
          ],
          isOpen &&
            isCaller &&
            !unread && [
              'Deposit held',
              held
                ? `${formatLamports(held.deposit)}, comes back ${formatSpan(ENDED_DISPUTE_SECONDS)} after the dispute ends`
                : '…',
            ],
          ...endRows(dispute, reader),
        ]}
      />
    </Card>
  );
}

/** For the creator. The dispute's page has all of it. */
function OwnReply({ dispute: { outcome, reply, opened_at, resolved_at } }: { dispute: DisputeSummary }) {
  if (outcome === 'open') return reply === null ? 'None yet' : 'Sent. You can replace it until the admin decides.';
  if (reply !== null) return <span className="line-clamp-3 whitespace-pre-wrap">{reply}</span>;
  const isEarly = resolved_at !== null && Date.parse(resolved_at) - Date.parse(opened_at) < HEARING_SECONDS * 1_000;
  return isEarly ? 'None: it ended before your time to reply was over' : 'None';
}

/** The call of a dispute, with a link to what its reader may read of it: for the admin, its record on the chain. */
export function CallOf({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  const { execution_id: executionId, agent_id: agentId } = dispute;
  const name = (
    <>
      Call{' '}
      <code title={executionId} className="font-mono text-[0.8125rem]">
        {shorten(executionId)}
      </code>
    </>
  );
  return (
    <span className="inline-flex items-center gap-1">
      {reader === 'caller' && (
        <CellLink to="/executions/$executionId" params={{ executionId }}>
          {name}
        </CellLink>
      )}
      {reader === 'creator' && (
        <CellLink to="/creator/$agentId" params={{ agentId }} search={{ tab: 'received', call: executionId }}>
          {name}
        </CellLink>
      )}
      {reader === 'admin' && (
        <CellLink to="/verify" search={{ id: executionId }}>
          {name}
        </CellLink>
      )}
      <Copy text={executionId} what={executionId} bare />
    </span>
  );
}

/** Actions for anyone, on the chain's clock: pay out an award that could not be received, and end a dispute that was not resolved in time. */
export function DisputeActions({ dispute }: { dispute: DisputeSummary }) {
  const now = useChainClock(dispute.outcome === 'open');
  const mayEnd = dispute.outcome === 'open' && now !== undefined && now >= Date.parse(dispute.lapses_at);
  const executionId = dispute.execution_id;
  return (
    <>
      {dispute.owed_usdc > 0 && (
        <SignButton
          button="Claim award"
          kind="primary"
          small
          title="Claim the award"
          about="The caller’s USDC account could not receive it when the dispute was decided. It is paid there now, no matter which wallet signs."
          rows={[
            ['Amount', formatAmount(dispute.owed_usdc)],
            ['To the wallet', dispute.caller],
          ]}
          doing={`Sending ${formatAmount(dispute.owed_usdc)} to the caller`}
          confirm="Sign the claim"
          work={({ marketplace, wallet, claimAward }) =>
            claimAward(marketplace, { wallet, executionId: idBytes(executionId) })
          }
          done={({ amount_usdc }) => ['The award is paid', `${amount_usdc} USDC went to the caller.`]}
        />
      )}
      {mayEnd && (
        <SignButton
          button="End undecided dispute"
          small
          title="End the undecided dispute"
          about="The admin has not decided it in time. The bond goes back to the wallet that paid it, and the call stays paid."
          rows={[['Bond returned', formatLamports(dispute.bond_lamports)]]}
          doing="Ending the dispute and returning the bond"
          confirm="Sign and end"
          work={({ marketplace, wallet, endUndecidedDispute }) =>
            endUndecidedDispute(marketplace, { wallet, executionId: idBytes(executionId) })
          }
          done={() => ['The dispute has ended', 'The bond is returned.']}
        />
      )}
    </>
  );
}
