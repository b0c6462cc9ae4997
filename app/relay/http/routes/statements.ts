/** Routes of statements: what a wallet paid or earned, by the day. */
import { DailyStatement, StatementQuery, statementCsv } from '../../../sdk/wire/wire.ts';
import { readStatement } from '../../calls/statements.ts';
import { parse, readQuery } from '../../parse.ts';
import { CACHING, route } from './route.ts';
import { WALLET } from './samples.ts';

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
};
const [from, to] = ['2026-11-21', '2026-11-21'];

export const statementRoutes = {
  getDailyStatement: route({
    method: 'get',
    path: '/v1/statements/daily',
    tag: 'Executions',
    summary: "Read the wallet's statement by the day",
    about:
      "What the key's wallet paid as caller, or earned with its agents as creator: one row for each UTC day, by the time at which executions ended and disputes were decided. It has what the index has read from the chain; executions in progress are not in it.",
    access: 'read',
    query: StatementQuery,
    queryExample: { role: 'caller', from: '2026-11-01', to: '2026-11-30' },
    answers: {
      200: {
        about: 'The statement; with `format=csv` its days as CSV.',
        schema: DailyStatement,
        bytes: 'text/csv',
        examples: {
          day: { wallet: WALLET, role: 'caller', from, to, days: [{ day: from, ...FIGURES }], total: FIGURES },
        },
      },
    },
    errors: [],
    cache: CACHING.never,
    async handle({ deps }, { caller, request }) {
      const { format, ...asked } = parse(StatementQuery, readQuery(request.url), 'query');
      const statement = await readStatement(deps, caller.wallet, asked);
      return { status: 200, value: format === 'csv' ? Buffer.from(statementCsv(statement)) : statement };
    },
  }),
};
