/** `statement`: the amounts that a wallet paid or earned. */
import { Command, Option } from 'commander';
import { STATEMENT_ROLES, type StatementRole } from '../../sdk/wire/choices.ts';
import type { StatementDay } from '../../sdk/wire/statement.ts';
import type { CommonOptions } from '../config.ts';
import { printTable } from '../output.ts';
import { readWallet, serviceOf, withWallet } from './options.ts';

interface StatementOptions {
  role: StatementRole;
  from?: string;
  to?: string;
  csv?: boolean;
}

export function statementCommands(): Command {
  const group = new Command('statement').description('show what a wallet paid or earned');

  withWallet(group.command('daily'))
    .description('show what this wallet paid as caller, or earned as creator, per UTC day')
    .addOption(new Option('--role <role>', 'role of the wallet').choices(STATEMENT_ROLES).default('caller'))
    .option('--from <day>', 'the first day, such as 2026-01-01 (default: 29 days before the last one)')
    .option('--to <day>', 'the last day, at most 91 days after the first (default: today)')
    .option('--csv', 'print the days as CSV')
    .action(async (options: CommonOptions & StatementOptions) => {
      const { ask, openSession } = await import('../../sdk/wallet/service.ts');
      const { StatementDay, statementCsv } = await import('../../sdk/wire/statement.ts');
      const service = serviceOf(options);
      const session = await openSession(service, await readWallet(options));
      const { role, from, to } = options;
      const filters = { role, ...(from && { from }), ...(to && { to }) };
      const statement = await ask(service, () => session.request('getDailyStatement', filters));
      if (options.csv) return console.log(statementCsv(statement).trimEnd());
      if (options.json) return console.log(JSON.stringify(statement, null, 2));
      const columns = Object.keys(StatementDay.shape) as (keyof StatementDay)[];
      printTable([...statement.days, { day: 'total', ...statement.total }], columns);
    });
  return group;
}
