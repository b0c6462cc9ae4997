/** The facts to know about an agent before paying it. */
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { AgentFull } from '../../../sdk/wire/wire.ts';
import { disputedWords, hasRate, successesOf, VERIFIED } from '../../parts/badges.tsx';
import { ProgramWarning } from '../../parts/explained.tsx';
import { Away } from '../../parts/links.tsx';
import { Button, cx, Facts, Figure, LINK } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatDuration, formatRate, Id, Time } from '../../parts/values.tsx';
import { Example } from './example.tsx';
import { Month } from './month.tsx';
import { Others } from './paused.tsx';
import { SchemaFields } from './schema/schemaFields.tsx';
import { Terms } from './terms.tsx';

const Markdown = lazy(() => import('../../parts/markdown.tsx'));

/** Lines of the page that a folded description has, so that the example is in sight, and the characters of one. */
const MOST_LINES = 6;
const LINE_LENGTH = 90;

/** The first whole lines of a description; all of it if they are enough. */
function beginningOf(text: string): string {
  let left = MOST_LINES;
  const lines = text.split('\n');
  const end = lines.findIndex((line) => {
    left -= Math.max(1, Math.ceil(line.length / LINE_LENGTH));
    return left < 0;
  });
  return end < 0 ? text : lines.slice(0, Math.max(1, end)).join('\n');
}

interface PurposeProps {
  text: string;
  /** Gives a text its format, once that is loaded. */
  format?(text: string): ReactNode;
  /** True in the document, which does not know the length of its text. */
  isCut?: boolean;
}

export function Purpose({ text, format, isCut = false }: PurposeProps) {
  const beginning = beginningOf(text);
  const isLong = beginning !== text;
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? text : beginning;
  return (
    <section>
      <h2 className="mb-3 text-lg font-semibold">What it does</h2>
      <div className={cx(isCut && 'max-h-36 overflow-hidden max-sm:max-h-72')}>
        {format?.(shown) ?? <p className="text-sm leading-relaxed whitespace-pre-line">{shown}</p>}
      </div>
      {isLong && (
        <Button
          small
          kind="quiet"
          className={cx('mt-2 -ml-2.5', LINK)}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : 'Show all'}
        </Button>
      )}
    </section>
  );
}

/** Beside the long column it stays in sight, in a window that has room for it. */
const STAYS =
  'lg:[@media(min-height:54rem)]:sticky lg:[@media(min-height:54rem)]:top-23 lg:[@media(min-height:54rem)]:self-start';

export function Overview({ agent }: { agent: AgentFull }) {
  return (
    <div className="grid gap-x-12 gap-y-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="grid min-w-0 content-start gap-10">
        {/* Until Markdown is loaded, plain text takes about the same space. */}
        <Suspense fallback={<Purpose text={agent.description} />}>
          <Purpose text={agent.description} format={(text) => <Markdown text={text} />} />
        </Suspense>
        {agent.status === 'paused' && <Others agent={agent} />}
        <Example agent={agent} />
        <Record agent={agent} />
        {/* In one column the terms come before the long parts. */}
        <Aside title="Terms" className="border-t-0! pt-0! lg:hidden">
          <Terms agent={agent} />
        </Aside>
        <SchemaFields
          title="Input"
          schema={agent.input_schema}
          isInput
          none="This agent has no fixed parameters. It needs only the task."
        />
        <SchemaFields
          title="Output"
          schema={agent.output_schema}
          none="An object. Its creator does not describe the fields."
        />
      </div>
      <aside
        className={cx('grid min-w-0 content-start gap-8 lg:[&_dl]:grid-cols-1 lg:[&_dt]:-mb-2.5', STAYS)}
        aria-label="Facts"
      >
        <Aside title="Terms" className="max-lg:hidden">
          <Terms agent={agent} />
        </Aside>
        <Aside title="On the chain">
          <Facts
            rows={[
              ['Agent ID', <Id key="id" value={agent.agent_id} />],
              ['Creator’s wallet', <Id key="wallet" value={agent.creator.pubkey} kind="address" />],
              [
                'Listing',
                <Away key="listing" href={agent.on_chain_listing}>
                  In the explorer
                </Away>,
              ],
            ]}
          />
        </Aside>
      </aside>
    </div>
  );
}

/** `2 of 3 delivered`, and the calls whose dispute changes or may change that. */
function callWords(agent: AgentFull): string {
  const { total_executions: all, open_disputes: open, upheld_disputes: upheld } = agent;
  const delivered = successesOf(agent);
  return [
    delivered === all
      ? `${formatCount(all)}, all delivered`
      : `${formatCount(delivered)} of ${formatCount(all)} delivered`,
    open > 0 && `; ${disputedWords(open)}`,
    upheld === 1 && '; 1 counts as failed, because its dispute was upheld',
    upheld > 1 && `; ${formatCount(upheld)} count as failed, because their disputes were upheld`,
    hasRate(agent) ? '.' : '. Too few calls for a success rate.',
  ]
    .filter(Boolean)
    .join('');
}

/** `4: 1 open, 1 rejected, 1 ended undecided, 1 upheld`. */
function disputeWords(agent: AgentFull): string {
  const { dispute_count: all, open_disputes: open, upheld_disputes: upheld, rejected_disputes: rejected } = agent;
  if (all === 0) return 'None';
  const undecided = all - open - upheld - rejected;
  const parts = [
    open > 0 && `${formatCount(open)} open`,
    rejected > 0 && `${formatCount(rejected)} rejected`,
    undecided > 0 && `${formatCount(undecided)} ended undecided`,
    `${formatCount(upheld)} upheld`,
  ];
  return `${formatCount(all)}: ${parts.filter(Boolean).join(', ')}`;
}

function Aside({ title, className, children }: { title: string; className?: string; children: ReactNode }) {
  return (
    <section className={cx('grid gap-3 border-t border-line pt-5 first:border-0 first:pt-0', className)}>
      <h2 className="text-lg font-semibold">{title}</h2>
      {children}
    </section>
  );
}

/** What is known of its calls, and what vouches for it. Figures only from enough calls on. */
function Record({ agent }: { agent: AgentFull }) {
  const { total_executions, avg_execution_time_ms, creator } = agent;
  const isRated = hasRate(agent);
  return (
    <section className="grid gap-4">
      <h2 className="text-lg font-semibold">Can I trust it?</h2>
      {isRated && <Figures agent={agent} />}
      {total_executions === 0 && (
        <p className="text-sm">
          Nobody has called it yet.
          {agent.status === 'active' &&
            ' You pay only for a result that its creator has signed, and its collateral pays you if a dispute is upheld.'}
        </p>
      )}
      <Facts
        rows={[
          total_executions > 0 && !isRated && ['Calls', callWords(agent)],
          !isRated &&
            avg_execution_time_ms > 0 && [
              'Agent’s time, on average',
              `${formatDuration(avg_execution_time_ms)}, plus the time to pay and settle`,
            ],
          ['Disputes', disputeWords(agent)],
          ['Collateral', `${formatAmount(agent.collateral_usdc)}, which pays callers whose dispute is upheld`],
          ['Listed since', <Time key="listed" at={agent.created_at} />],
          [
            'Creator',
            creator.verified
              ? VERIFIED
              : 'Not verified: the admin has not checked who owns this wallet. The name is the creator’s own choice.',
          ],
        ]}
      />
      <ProgramWarning />
      {isRated && <Month agent={agent} />}
    </section>
  );
}

function Figures({ agent }: { agent: AgentFull }) {
  const { total_executions, success_rate, avg_execution_time_ms, health } = agent;
  const { p95_ms } = health;
  // Also calls that were paid, and whose dispute was upheld later.
  const failed = total_executions - successesOf(agent);
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <Figure label="Delivered" value={formatRate(success_rate)} about={callWords(agent)} />
      <Figure
        label="Calls"
        value={formatCount(total_executions)}
        about={failed === 0 ? 'None failed' : `${formatCount(failed)} failed`}
      />
      <Figure
        label="Agent’s time, on average"
        value={avg_execution_time_ms > 0 ? formatDuration(avg_execution_time_ms) : '–'}
        about={`${p95_ms === null ? '' : `95 % of the last calls within ${formatDuration(p95_ms)}. `}Plus the time to pay and settle.`}
      />
    </div>
  );
}
