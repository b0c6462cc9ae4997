/** The state of the deployment: what needs the admin, its problems, and its figures. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { MAX_LAG_SECONDS } from '../../../sdk/wire/choices.ts';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { TextLink } from '../../parts/links.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Badge, cx, Note } from '../../parts/ui.tsx';
import { Ago, formatCount, formatCounted, formatDuration, formatSpan, Id } from '../../parts/values.tsx';
import { stateQuery } from '../../parts/waiting.tsx';
import { useSession } from '../../wallet/session.ts';
import { comparisonQuery, missingIn, missingWords } from './compare.tsx';
import { FailedLately, Figured, Figures, LatestCalls, type Row } from './figures.tsx';
import { HeldUsdc } from './held.tsx';
import { OpenDisputes } from './parties.tsx';
import { isUsed, PROBLEM_WORDS, warningsOf } from './problems.ts';
import { lamportRows } from './sol.tsx';
import { Lack, Protections, Unprotected, useLackCount } from './unprotected.tsx';

type State = ProcedureOutput<'operation.state'>;

/** Poll interval, ms: short, because an old state is of little use. */
const REFRESH_MS = 5_000;

export function StateTab() {
  const query = useQuery({ ...stateQuery, refetchInterval: REFRESH_MS });
  const { wallet } = useSession();
  const state = query.data;
  const unread = <Unread query={query} what="The state" className="h-128" />;
  if (!state) return unread;
  return (
    <div className="grid gap-8">
      {unread}
      <div className="grid gap-3">
        <Missing />
        {state.open_disputes > 0 && <OpenDisputes count={state.open_disputes} waiting={state.waiting_disputes} />}
        <Unprotected />
        <Problems state={state}>
          Updated <Ago at={new Date(query.dataUpdatedAt).toISOString()} />
        </Problems>
        <FailedLately latest={state.latest} />
      </div>
      <Figures state={state} />
      <div className="grid items-start gap-6 lg:grid-cols-2 sm:[&_dl]:grid-cols-[11rem_1fr]">
        <div className="grid gap-6">
          <HeldUsdc state={state} />
          <Figured id="service" title="Service" rows={workRows(state)} />
        </div>
        <div className="grid gap-6">
          <LatestCalls latest={state.latest} hasX402={state.x402 !== null} />
          <Figured title="SOL" rows={lamportRows(state, wallet)} />
        </div>
      </div>
    </div>
  );
}

/** Money that the ledger knows and the chain does not have. */
function Missing() {
  const missing = missingIn(useQuery(comparisonQuery).data);
  if (missing.length === 0) return null;
  return (
    <Note tone="bad" title="Needs you: the chain holds less than the ledger says">
      {missingWords(missing)}.{' '}
      <TextLink to="/admin" hash="held">
        How to find the calls
      </TextLink>
    </Note>
  );
}

/** `children`: when it was read. */
function Problems({ state, children }: { state: State; children: ReactNode }) {
  const lacks = useLackCount();
  const { problems } = state;
  const warnings = warningsOf(state);
  const below = Number(isOnlyNode(state.nodes)) + (lacks ?? 1);
  if (problems.length === 0 && warnings.length === 0)
    return (
      <p className="my-1 flex items-baseline gap-2 text-sm">
        <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-good" />
        <span>
          The service works: it accepts, shows and settles calls. {/* Keeps its place until it is known. */}
          {below > 0 && (
            <span className={cx(lacks === undefined && 'invisible')}>
              <TextLink to="/admin" hash="service">
                {formatCounted(below, 'warning')} below
              </TextLink>
              .{' '}
            </span>
          )}
          <span className="text-faint">{children}</span>
        </span>
      </p>
    );
  return (
    <>
      <ul className="grid gap-3">
        {problems.map((problem) => (
          <li key={problem}>
            <Note tone={problem === 'opens_paused' ? 'warn' : 'bad'} title={PROBLEM_WORDS[problem].title}>
              {PROBLEM_WORDS[problem].todo}
            </Note>
          </li>
        ))}
        {warnings.map(({ title, todo }) => (
          <li key={title}>
            <Note tone="warn" title={title}>
              {todo}
            </Note>
          </li>
        ))}
      </ul>
      <p className="text-sm text-faint">{children}</p>
    </>
  );
}

function workRows({ indexer, oldest_unsettled: oldest, archive_waiting: archive, ...state }: State): Row[] {
  const webhooks = state.webhooks_waiting;
  return [
    [
      'New calls',
      <span key="calls" className="flex flex-wrap items-center gap-x-2">
        {state.opens_paused ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Accepted</Badge>}
        <TextLink to="/admin" search={{ tab: 'settings' }}>
          {state.opens_paused ? 'Resume in Settings' : 'Pause in Settings'}
        </TextLink>
      </span>,
    ],
    [
      'Index',
      indexer.lag_ms === null
        ? 'It has not read the chain yet'
        : `${lagText(indexer.lag_ms)} behind the chain, normal up to ${MAX_LAG_SECONDS} s`,
    ],
    ['Solana nodes', nodesText(state.nodes)],
    state.reconciled_at === null && [
      'Check of records',
      <Badge key="check" tone="warn">
        In progress
      </Badge>,
    ],
    state.x402 !== null && ['Open x402 payments', formatCount(state.x402.open_deposits)],
    oldest !== null && [
      'Oldest unsettled call',
      <span key="oldest" className="flex flex-wrap items-center gap-x-2">
        <Id value={oldest.execution_id} />
        <span>
          {oldest.state.replaceAll('_', ' ')}, for {formatSpan(oldest.age_seconds)}
        </span>
      </span>,
    ],
    Boolean(archive?.count) && ['Records to archive', waitingText(archive!)],
    webhooks.count > 0 && ['Webhooks waiting', waitingText(webhooks)],
    // The last, because it is read from the chain.
    ['If your key is stolen', <Protections key="stolen" />],
  ];
}

/** Always in seconds below a minute, so that the unit stays. */
const lagText = (ms: number): string => (ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms));

const isOnlyNode = (nodes: State['nodes']): boolean => nodes.length === 1 && nodes.every(isUsed);

function nodesText(nodes: State['nodes']): ReactNode {
  const used = nodes.filter(isUsed).length;
  if (isOnlyNode(nodes)) return <Lack>1 in use: name a second in SOLANA_RPC_URL</Lack>;
  return `${used === nodes.length ? `${used},` : `${used} of ${nodes.length}`} in use`;
}

const waitingText = ({ count, oldest_seconds: seconds }: { count: number; oldest_seconds: number }): string =>
  `${formatCount(count)}, the oldest for ${formatSpan(seconds)}`;
