/**
 * deploy/alerts.yml and deploy/grafana.json, read by Prometheus' own promtool: every alarm fires on what it is for, and is
 * silent otherwise. docs/operating.md has a row for each.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { useFolder } from '../harness/folder.ts';
import { ROOT, readPage } from './markdown.ts';

const ALERTS = join(ROOT, 'deploy', 'alerts.yml');
/** The longest time that an expression looks back, minutes. */
const LOOKS_BACK = 10;

type Labels = Record<string, string>;
/** Values at each minute: constant, or rising by this much a minute. */
type Series = Record<string, number | string | { rises: number }>;
interface Case {
  fires: Series;
  labels?: Labels;
  summary: string;
  /** Series for which the alarm must be silent. */
  silent: Series[];
}

const A = { instance: 'a' };
const figure = (name: string, more: Labels = {}): string =>
  `marketplace_${name}{${Object.entries({ ...more, instance: 'a' })
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;
/** An alarm on one figure, which is silent for other values. */
const onOne = (name: string, fires: Series[string], summary: string, silent: Series[string][], labels = {}): Case => ({
  fires: { [figure(name)]: fires },
  labels,
  summary,
  silent: silent.map((value) => ({ [figure(name)]: value })),
});
const calls = (completed: number, refused: number): Series => ({
  [figure('call_seconds_count', { outcome: 'completed' })]: { rises: completed },
  [figure('call_refusals_total', { code: 'service_unavailable' })]: { rises: refused },
  [figure('call_refusals_total', { code: 'insufficient_balance' })]: { rises: 10 },
});

const CASES: Record<string, Case> = {
  RelayDown: {
    fires: { 'up{job="marketplace",instance="a"}': 0 },
    labels: { ...A, job: 'marketplace' },
    summary: 'Relay a does not answer',
    silent: [{ 'up{job="marketplace",instance="a"}': 1 }, { 'up{job="other",instance="a"}': 0 }],
  },
  CallsStopped: {
    fires: { [figure('problem', { problem: 'fees_low' })]: 1, [figure('problem', { problem: 'stopping' })]: 0 },
    labels: { ...A, problem: 'fees_low' },
    summary: 'Relay a refuses new calls: fees_low',
    silent: [{ [figure('problem', { problem: 'fees_low' })]: 0, [figure('problem', { problem: 'stopping' })]: 1 }],
  },
  CallsRefused: {
    fires: calls(970, 20),
    summary: '2% of paid calls get 503',
    // Nothing is called; one call in a hundred is refused; callers have too little money.
    silent: [calls(0, 0), calls(990, 10), { ...calls(0, 0), ...{ [figure('call_seconds_count')]: { rises: 1 } } }],
  },
  Faults: onOne('faults_total', { rises: 1 }, 'Requests to a fail through a fault of the service', [7], A),
  CallsParked: onOne('executions_parked', 2, '2 executions wait for an operator', [0]),
  CallsUnsettled: {
    fires: {
      [figure('oldest_unsettled_seconds')]: 4_000,
      [figure('refunds_waiting')]: 0,
      [figure('executions_parked')]: 0,
    },
    summary: 'An execution has not ended for 1h 6m 40s',
    silent: [
      {
        [figure('oldest_unsettled_seconds')]: 3_700,
        [figure('refunds_waiting')]: 0,
        [figure('executions_parked')]: 0,
      },
      {
        [figure('oldest_unsettled_seconds')]: 9_000,
        [figure('refunds_waiting')]: 1,
        [figure('executions_parked')]: 0,
      },
    ],
  },
  RefundsWaiting: onOne('refunds_waiting', 1, '1 refunds wait for an account of their caller', [0]),
  WebhooksLate: onOne('oldest_waiting_webhook_seconds', 360, 'A webhook has been due for 6m 0s', [300]),
  FeesRunOut: onOne('fee_payer_runway_hours', 20, 'The SOL of the authority of a lasts for 20 hours', [30, '+Inf'], A),
  LendingLow: {
    fires: { [figure('lamports_free')]: 99, [figure('lamports_lent')]: 901 },
    labels: A,
    summary: 'Relay a can lend only 99 lamports more',
    silent: [
      { [figure('lamports_free')]: 100, [figure('lamports_lent')]: 900 },
      // The operator lends nothing.
      { [figure('lamports_free')]: 0, [figure('lamports_lent')]: 0 },
      { [figure('lamports_free')]: 1_000, [figure('lamports_lent')]: 0 },
    ],
  },
  X402FeesLow: {
    fires: { [figure('x402_fee_payer_lamports')]: 9_000_000 },
    labels: A,
    summary: 'The fee payer of x402 payments has 9M lamports',
    // Without x402 there is no such figure.
    silent: [{ [figure('x402_fee_payer_lamports')]: 10_000_000 }, { [figure('fee_payer_lamports')]: 0 }],
  },
  IndexBehind: onOne('indexer_lag_seconds', 40, 'The index is 40s old', [30]),
  IndexGaps: onOne('index_gaps', 3, 'The indexer could not read 3 transactions', [0]),
  NodeDown: {
    fires: { [figure('rpc_node_up', { node: '1:host' })]: 0, [figure('rpc_node_up', { node: '2:host' })]: 1 },
    labels: { ...A, node: '1:host' },
    summary: 'Relay a does not use the node 1:host',
    silent: [{ [figure('rpc_node_up', { node: '1:host' })]: 1 }],
  },
  NodeErrors: {
    fires: {
      [figure('rpc_errors_total', { method: 'getSlot' })]: { rises: 10 },
      [figure('rpc_errors_total', { method: 'sendTransaction' })]: { rises: 3 },
    },
    labels: A,
    summary: 'Calls of a to the node fail',
    silent: [{ [figure('rpc_errors_total', { method: 'getSlot' })]: { rises: 12 } }],
  },
  NodesDisagree: onOne('rpc_disagreements_total', { rises: 1 }, 'Two nodes of a disagree about money', [5], A),
  ArchivesMismatched: onOne('archives_mismatched', 1, '1 archives differ from the chain', [0]),
  ArchivingLate: onOne(
    'oldest_archivable_record_seconds',
    5_400,
    'A record could have been archived 1h 30m 0s ago',
    [4_200],
  ),
  DescriptionsMissing: onOne(
    'listings_without_description',
    5,
    '5 active listings have no description and cannot be called',
    [0],
  ),
  QueuesFull: {
    fires: { [figure('lane_waiting', { lane: 'paid' })]: 60 },
    labels: { ...A, lane: 'paid' },
    summary: 'Large requests wait at a, lane paid',
    // The work of strangers is refused before it delays calls, which needs nobody.
    silent: [
      { [figure('lane_waiting', { lane: 'paid' })]: 50, [figure('lane_refused_total', { lane: 'paid' })]: 9 },
      { [figure('lane_refused_total', { lane: 'strangers' })]: { rises: 100 } },
    ],
  },
  DiskLow: onOne('disk_free_bytes', 2 ** 30, '1GiB are free on the disk of a', [3 * 2 ** 30, 'NaN'], A),
  BackupsLate: onOne('backup_age_seconds', 180_000, 'The newest backup is 2d 2h 0m 0s old', [90_000, 'NaN']),
  LogLinesDropped: onOne('log_lines_dropped_total', { rises: 10 }, 'The log of a cannot be written', [10], A),
};

interface Rule {
  alert: string;
  for?: string;
  annotations: { summary: string };
}

describe('the alarms and the dashboard of deploy/', () => {
  const { groups } = parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const alerts = rules.map(({ alert }) => alert);
  const folder = useFolder('marketplace-alerts');

  function promtool(...args: string[]): void {
    const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
    expect(error, 'promtool is needed: apt-get install prometheus').to.equal(undefined);
    expect(status, stdout + stderr).to.equal(0);
  }
  function write(name: string, content: unknown): string {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  }

  /** Writes tests of one alarm. promtool would compute all others in each test. */
  function writeTests(alarm: string, tests: object[], evaluation_interval = '1m'): string {
    const alone = { groups: [{ name: alarm, rules: rules.filter(({ alert }) => alert === alarm) }] };
    const rule_files = [write(`${alarm}.yml`, alone)];
    return write(`${alarm}-tests.yml`, { rule_files, evaluation_interval, tests });
  }

  /** Minutes after which the alarm has fired. */
  function minutesOf(alertname: string): number {
    const [, count = 0, unit] = /^(\d+)([mh])$/.exec(rules.find(({ alert }) => alert === alertname)?.for ?? '') ?? [];
    return Number(count) * (unit === 'h' ? 60 : 1) + LOOKS_BACK + 5;
  }
  function valuesOf(value: Series[string], steps: number): string {
    if (typeof value === 'object') return `0+${value.rises}x${steps}`;
    return typeof value === 'number' ? `${value}x${steps}` : Array(steps).fill(value).join(' ');
  }
  function test(
    alertname: string,
    series: Series,
    expected: { exp_labels: Labels; exp_annotations: Labels }[],
    { steps = minutesOf(alertname), minutes = 1 } = {},
  ) {
    return {
      interval: `${minutes}m`,
      input_series: Object.entries(series).map(([name, value]) => ({ series: name, values: valuesOf(value, steps) })),
      alert_rule_test: [{ eval_time: `${(steps - 1) * minutes}m`, alertname, exp_alerts: expected }],
    };
  }

  it('each have a case here, and a row in docs/operating.md', () => {
    expect(Object.keys(CASES)).to.deep.equal(alerts);
    const rows = [...readPage('docs/operating.md').matchAll(/^\| `([A-Z]\w*[a-z]\w*)` \|/gm)].map(([, name]) => name);
    expect(rows).to.deep.equal(alerts);
  });

  it('fire on what they are for, and are silent otherwise', () => {
    promtool('check', 'rules', ALERTS);
    const files = Object.entries(CASES).map(([alert, { fires, labels = {}, summary, silent }]) => {
      const fired = test(alert, fires, [{ exp_labels: labels, exp_annotations: { summary } }]);
      return writeTests(alert, [fired, ...silent.map((series) => test(alert, series, []))]);
    });
    promtool('test', 'rules', ...files);
  });

  it('make one alarm of what several relays say about one ledger', () => {
    const series = { 'marketplace_index_gaps{instance="a"}': 2, 'marketplace_index_gaps{instance="b"}': 2 };
    const summary = 'The indexer could not read 2 transactions';
    const tests = [test('IndexGaps', series, [{ exp_labels: {}, exp_annotations: { summary } }])];
    promtool('test', 'rules', writeTests('IndexGaps', tests));
  });

  it('miss the first backup after two days, wherever it is to be made', () => {
    const age = (instance: string) => `marketplace_backup_age_seconds{instance="${instance}"}`;
    const expected = { exp_labels: {}, exp_annotations: { summary: 'The newest backup is still to be made' } };
    // A sample counts for five minutes.
    const minutes = 4;
    const twoDays = { steps: (2 * 24 * 60) / minutes, minutes };
    const later = { steps: twoDays.steps + 5, minutes };
    const none = { [age('a')]: 'NaN', [age('b')]: 'NaN' };
    const tests = [
      test('BackupsLate', none, [], twoDays),
      test('BackupsLate', none, [expected], later),
      test('BackupsLate', { ...none, [age('a')]: 90_000 }, [], later),
    ];
    promtool('test', 'rules', writeTests('BackupsLate', tests, '4m'));
  });

  it('the dashboard has a query that Prometheus accepts in every panel', () => {
    const { panels } = JSON.parse(readFileSync(join(ROOT, 'deploy', 'grafana.json'), 'utf8')) as {
      panels: { type: string; title: string; targets?: { expr: string }[] }[];
    };
    const shown = panels.filter(({ type }) => type !== 'row');
    for (const { title, targets = [] } of shown) expect(targets, title).to.have.length.above(0);
    const queries = shown.flatMap(({ targets = [] }, panel) =>
      targets.map(({ expr }, at) => ({
        record: `panel:${panel}:${at}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      })),
    );
    promtool('check', 'rules', write('panels.yml', { groups: [{ name: 'panels', rules: queries }] }));
  });
});
