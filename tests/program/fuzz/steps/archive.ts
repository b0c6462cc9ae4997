/** Steps that archive. Anyone can take them. */
import * as program from '../../../../app/sdk/program/program.ts';
import { SPONSOR, STRANGER, TREE } from '../cast.ts';
import { type Address, key } from '../ledger.ts';
import * as rules from '../rules/archive.ts';
import type { ExecutionRecord } from '../rules/executions.ts';
import { type Planner, plan, until } from './plan.ts';

const MOST = program.constants.maxArchivedRecords;

export const createArchive: Planner = () => {
  const input = { payer: SPONSOR, tree: TREE, index: 0 };
  return plan('ArchiveCreated', program.createArchive, input, rules.createArchive);
};

export const archiveExecutions: Planner = ({ ledger }, draw) => {
  const records = [...ledger.all('ExecutionRecord')];
  const ripe = records.filter(([, record]) => rules.isRipe(ledger, record));
  const waiting = records.filter(([, { status }]) => status === 'completed');
  if (ripe.length === 0 && !draw.maybe(20)) {
    return until(
      ledger,
      waiting.map(([, record]) => rules.ripeFrom(ledger, record)),
    );
  }
  const named = [...ripe, ...(draw.maybe(30) ? records : [])].slice(0, draw.of([MOST, 1, 3]));
  if (named.length > 0 && draw.maybe(20)) named.unshift(named[0]!);
  const pair = ([address, record]: [Address, ExecutionRecord]) => ({
    record: key(address),
    rentSponsor: draw.maybe(5) ? STRANGER : key(record.rentSponsor),
  });
  const input = { index: 0, tree: TREE, executions: named.slice(0, MOST).map(pair) };
  return plan('ExecutionsArchived', program.archiveExecutions, input, rules.archiveExecutions);
};
