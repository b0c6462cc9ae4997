/** Routes of statements: what a wallet paid or earned, by the day. */
import {
  DailyStatement,
  SpendQuery,
  SpendStatement,
  StatementQuery,
  spendCsv,
  statementCsv,
} from '../../../sdk/wire/wire.ts';
import { readSpend } from '../../calls/spend.ts';
import { readStatement } from '../../calls/statements.ts';
import { parse, readQuery } from '../../parse.ts';
import { CACHING, ok, route } from './route.ts';
import { AGENT_ID, WALLET } from './samples.ts';

const FIGURES = {
  executions: 12,
  completed: 11,
  refunded: 1,
  disputed: 0,
  paid_usdc: 2.75,
  earned_usdc: 2.7225,
  fee_usdc: 0.0275,
  refunded_usdc: 0.25,
  returned_usdc: 0,
  slashed_usdc: 0,
  service_fee_usdc: 0,
};
const [from, to] = ['2026-11-21', '2026-11-21'];
const SPEND = {
  day: from,
  key_id: '3f2a9c0d5b7e41628894a0f1c2d3e4f5',
  key_name: 'production',
  agent_id: AGENT_ID,
  agent_name: 'csv-analyst',
  executions: 12,
  completed: 11,
  refunded: 1,
  paid_usdc: 2.75,
  refunded_usdc: 0.25,
  returned_usdc: 0,
  service_fee_usdc: 0,
};

/** The common fields of these routes. */
const SHARED = { method: 'get', tag: 'Executions', access: 'read', errors: [], cache: CACHING.never } as const;

export const statementRoutes = {
  getDailyStatement: route({
    ...SHARED,
    path: '/v1/statements/daily',
    summary: "Read the wallet's daily statement",
    about:
      "The amounts that the key's wallet paid as caller, or earned with its agents as creator: one row for each UTC day. An execution counts for the day on which it ended, a dispute for the day on which it was decided. The statement contains what the index has read from the chain, without executions in progress.",
    query: StatementQuery,
    queryExample: { role: 'caller', from: '2026-11-01', to: '2026-11-30' },
    answers: ok({
      about: 'The statement; with `format=csv` its days as CSV.',
      schema: DailyStatement,
      bytes: 'text/csv',
      examples: {
        day: { wallet: WALLET, role: 'caller', from, to, days: [{ day: from, ...FIGURES }], total: FIGURES },
      },
    }),
    async handle({ deps }, { caller, request }) {
      const { format, ...asked } = parse(StatementQuery, readQuery(request.url), 'query');
      const statement = await readStatement(deps, caller.wallet, asked);
      return { status: 200, value: format === 'csv' ? Buffer.from(statementCsv(statement)) : statement };
    },
  }),

  getSpend: route({
    ...SHARED,
    path: '/v1/statements/spend',
    summary: "Read the wallet's spend by key and agent",
    about:
      "The amounts that the key's wallet paid as caller: one row for each UTC day, API key and agent with an execution that ended or a dispute that was decided on that day. The amounts have the same meaning as in the daily statement. `key_id` is null for executions that the wallet opened itself.",
    query: SpendQuery,
    answers: ok({
      about: 'The rows, oldest first; with `format=csv` as CSV.',
      schema: SpendStatement,
      bytes: 'text/csv',
      examples: { spend: { wallet: WALLET, from, to, rows: [SPEND] } },
    }),
    async handle({ deps }, { caller, request }) {
      const { format, ...asked } = parse(SpendQuery, readQuery(request.url), 'query');
      const spend = await readSpend(deps, caller.wallet, asked);
      return { status: 200, value: format === 'csv' ? Buffer.from(spendCsv(spend)) : spend };
    },
  }),
};
