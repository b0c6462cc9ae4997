/** The state of the deployment: problems, how long the gas lasts, and where the lamports are. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { MAX_LAG_SECONDS } from '../../../sdk/wire/choices.ts';
import type { ProcedureOutput } from '../../../sdk/wire/procedures.ts';
import { formatShortSol } from '../../parts/amount.ts';
import { TextLink } from '../../parts/links.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Badge, Card, cx, Facts, Note } from '../../parts/ui.tsx';
import { Ago, formatCount, formatCounted, formatDuration, formatLamports, formatSpan, Id } from '../../parts/values.tsx';
import { stateQuery } from '../../parts/waiting.tsx';
import { useLamports, useSession } from '../../wallet/session.ts';
import { comparisonQuery, missingIn, missingWords } from './compare.tsx';
import { FailedLately, Figures, LatestCalls } from './figures.tsx';
import { HeldUsdc } from './held.tsx';
import { OpenDisputes } from './parties.tsx';
import { isUsed, PROBLEM_WORDS, warningsOf } from './problems.ts';
import { Lack, Protections, Unprotected, useIsUnprotected } from './unprotected.tsx';

type State = ProcedureOutput<'operation.state'>;

/** Poll interval, ms: short, because an old state is of little use. */
const REFRESH_MS = 5_000;

const UNKNOWN = 'Not known yet';

/** Four decimals; the exact amount on hover. */
function Sol({ lamports, up = false }: { lamports: number | null; up?: boolean }) {
  if (lamports === null) return UNKNOWN;
  return (
    <span className="tabular-nums" title={formatLamports(lamports)}>
      {formatShortSol(lamports, { up })}
    </span>
  );
}

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

interface ProblemsProps {
  state: State;
  /** When it was read. */
  children: ReactNode;
}

function Problems({ state, children }: ProblemsProps) {
  const isUnprotected = useIsUnprotected();
  const { problems } = state;
  const warnings = warningsOf(state);
  const below = Number(isOnlyNode(state.nodes)) + Number(isUnprotected !== false);
  if (problems.length === 0 && warnings.length === 0)
    return (
      <p className="my-1 flex items-baseline gap-2 text-sm">
        <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-good" />
        <span>
          The service works: it accepts, shows and settles calls.{' '}
          {/* Keeps its place until it is known. */}
          {below > 0 && (
            <span className={cx(isUnprotected === undefined && 'invisible')}>
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

/** `isQuiet`: nothing to see, so the row is folded. */
interface Row {
  label: string;
  value: ReactNode;
  isQuiet?: boolean;
}

/** Rows that say something, and the others folded below them. */
function Figured({ id, title, rows }: { id?: string; title: ReactNode; rows: (Row | false)[] }) {
  const shown = rows.filter((row) => row !== false);
  const quiet = shown.filter(({ isQuiet }) => isQuiet);
  const facts = (some: Row[]) => <Facts rows={some.map(({ label, value }) => [label, value] as const)} />;
  return (
    <Card id={id} className="grid content-start gap-4">
      <h2 className="font-semibold">{title}</h2>
      {facts(shown.filter(({ isQuiet }) => !isQuiet))}
      {quiet.length > 0 && (
        <details>
          <summary className="text-sm">More figures</summary>
          <div className="mt-3">{facts(quiet)}</div>
        </details>
      )}
    </Card>
  );
}

const amount = (label: string, lamports: number | null): Row => ({
  label,
  value: <Sol lamports={lamports} />,
  isQuiet: !lamports,
});

interface WalletProps {
  lamports: number | null;
  /** After the balance. */
  more?: string | false;
  wallet: string;
  /** What it pays, and what stops without it. */
  children: ReactNode;
}

const Wallet = ({ lamports, more, wallet, children }: WalletProps) => (
  <span className="grid">
    <span className="flex flex-wrap items-center gap-x-3">
      <span>
        <Sol lamports={lamports} />
        {more}
      </span>
      <Id value={wallet} kind="address" />
    </span>
    <span className="text-faint">{children}</span>
  </span>
);

/** Straight from the node: the service does not watch it. */
const OwnWallet = ({ wallet }: { wallet: string }) => (
  <Wallet lamports={useLamports(wallet) ?? null} wallet={wallet}>
    Signs decisions and settings. Without SOL it cannot.
  </Wallet>
);

function lamportRows(
  { lamports, lamports_per_call, authorities, x402 }: State,
  wallet: string | null | undefined,
): (Row | false)[] {
  const { lent, free, due, due_seconds, locked } = lamports;
  const isAllFree = ({ is_ours, lamports: balance }: Authority) =>
    is_ours && balance !== null && formatShortSol(balance) === formatShortSol(free);
  const isAllDue = due === lent && due > 0;
  const first = due_seconds === null ? '' : `, the first in ${roughly(due_seconds)}`;
  return [
    ...authorities.map((one) => balanceRow(one, isAllFree(one))),
    x402 !== null && {
      label: 'Payer of calls by x402',
      value: (
        <Wallet lamports={x402.lamports} wallet={x402.fee_payer}>
          Pays their network fees.{' '}
          {x402.min_lamports > 0 && (
            <>
              Below <Sol lamports={x402.min_lamports} />, new ones are refused.
            </>
          )}
        </Wallet>
      ),
    },
    Boolean(wallet) && { label: 'Your wallet', value: <OwnWallet wallet={wallet!} /> },
    {
      label: 'In deposits of calls',
      value: (
        <span>
          <Sol lamports={lent} up />
          {isAllDue && `, all coming back${first}`}
        </span>
      ),
    },
    !authorities.some(isAllFree) && { label: 'Left for deposits', value: <Sol lamports={free} /> },
    !isAllDue && {
      label: 'Coming back from ended calls',
      value: (
        <span>
          <Sol lamports={due} />
          {first}
        </span>
      ),
      isQuiet: due === 0,
    },
    {
      label: 'Relay’s network fees of a call, on average',
      value: lamports_per_call === null ? 'None settled yet' : <Sol lamports={lamports_per_call} />,
      isQuiet: lamports_per_call === null,
    },
    amount('Lent for refunds that wait for their callers', lamports.unclaimed),
    locked !== due && amount('In accounts of ended calls', locked),
    amount('Can come back now', lamports.archivable),
    amount('Came back since the start', lamports.archived),
    amount('Network fees that nobody paid, 24 hours', lamports.burnt_today),
  ];
}

type Authority = State['authorities'][number];

const balanceRow = ({ address, lamports, is_ours }: Authority, isAllFree: boolean): Row => ({
  label: is_ours ? 'This relay' : 'Another relay',
  value: (
    <Wallet lamports={lamports} more={isAllFree && ', all free for deposits'} wallet={address}>
      Pays network fees and lends deposits. New calls are refused before it is used up.
    </Wallet>
  ),
});

/** In whole minutes, from an hour on in tens: more does not matter. */
function roughly(seconds: number): string {
  const step = seconds >= 3_600 ? 600 : seconds >= 60 ? 60 : 1;
  return `about ${formatSpan(Math.round(seconds / step) * step)}`;
}

function workRows({ indexer, oldest_unsettled: oldest, archive_waiting: archive, ...state }: State): Row[] {
  const webhooks = state.webhooks_waiting;
  return [
    {
      label: 'New calls',
      value: (
        <span className="flex flex-wrap items-center gap-x-2">
          {state.opens_paused ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Accepted</Badge>}
          <TextLink to="/admin" search={{ tab: 'settings' }}>
            {state.opens_paused ? 'Resume in Settings' : 'Pause in Settings'}
          </TextLink>
        </span>
      ),
    },
    {
      label: 'Index',
      value:
        indexer.lag_ms === null
          ? 'It has not read the chain yet'
          : `${lagText(indexer.lag_ms)} behind the chain, normal up to ${MAX_LAG_SECONDS} s`,
    },
    { label: 'Solana nodes', value: nodesText(state.nodes) },
    {
      label: 'Check of records',
      value:
        state.reconciled_at === null ? (
          <Badge tone="warn">In progress</Badge>
        ) : (
          <>
            At its start, <Ago at={state.reconciled_at} />, the relay checked that it knows its open calls on the chain.
            It does not repeat that.
          </>
        ),
    },
    ...(state.x402 ? [{ label: 'Open x402 payments', value: formatCount(state.x402.open_deposits) }] : []),
    // The last, because it is read from the chain.
    { label: 'If your key is stolen', value: <Protections /> },
    {
      label: 'Oldest unsettled call',
      value: oldest ? (
        <span className="flex flex-wrap items-center gap-x-2">
          <Id value={oldest.execution_id} />
          <span>
            {oldest.state.replaceAll('_', ' ')}, for {formatSpan(oldest.age_seconds)}
          </span>
        </span>
      ) : (
        'None'
      ),
      isQuiet: oldest === null,
    },
    {
      label: 'Records to archive',
      value: archive ? waitingText(archive) : UNKNOWN,
      isQuiet: !archive?.count,
    },
    { label: 'Webhooks waiting', value: waitingText(webhooks), isQuiet: webhooks.count === 0 },
    { label: 'Last slot read', value: indexer.slot === null ? UNKNOWN : formatCount(indexer.slot), isQuiet: true },
    { label: 'Uptime', value: formatSpan(state.uptime_seconds), isQuiet: true },
  ];
}

/** Always in seconds below a minute, so that the unit stays. */
const lagText = (ms: number): string => (ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms));

const isOnlyNode = (nodes: State['nodes']): boolean => nodes.length === 1 && nodes.every(isUsed);

function nodesText(nodes: State['nodes']): ReactNode {
  const used = nodes.filter(isUsed).length;
  if (isOnlyNode(nodes)) return <Lack>1 in use, and no other if it fails</Lack>;
  return `${used === nodes.length ? `${used},` : `${used} of ${nodes.length}`} in use`;
}

function waitingText({ count, oldest_seconds: seconds }: { count: number; oldest_seconds: number }): string {
  return count === 0 ? 'None' : `${formatCount(count)}, the oldest for ${formatSpan(seconds)}`;
}
