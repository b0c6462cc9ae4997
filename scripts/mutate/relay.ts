/**
 * Mutants of the relay's money paths: claims, endings and deposits. Each changes one operator, in the code or in its SQL,
 * or leaves out one check or one step. Types are not checked, so that every mutant runs.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Mutant } from './mutant.ts';
import { oneLine } from './rust.ts';
import { TREE } from './workspace.ts';

/** A change of the source, and the tests that should notice it, the most likely first. */
export interface RelayMutant extends Mutant {
  edit: { start: number; end: number; replacement: string };
  tests: string[];
}

interface MoneyPath {
  files: string[];
  tests: string[];
}

const PATHS: MoneyPath[] = [
  {
    files: ['ledger/claims.ts', 'ledger/funding.ts', 'ledger/sums.ts', 'execution/begin/moneyQueue.ts'],
    tests: [
      'operation/journal',
      'operation/lending',
      'calls/moneyQueue',
      'calls/oneCharge',
      'calls/protection',
      'calls/gas',
      'x402/unpaidLimit',
      'x402/debts',
    ],
  },
  {
    files: ['execution/ending.ts', 'execution/settle.ts', 'execution/refund.ts'],
    tests: [
      'calls/money',
      'calls/stuckRefunds',
      'operation/waitingRefunds',
      'operation/restarted',
      'operation/authorities',
      'misbehaviour/misbehaviour',
      'rpc/rpc',
      'kills/recovery',
      'kills/kills',
    ],
  },
  {
    files: [
      'execution/deposits/buying.ts',
      'execution/deposits/depositAt.ts',
      'execution/deposits/paying.ts',
      'execution/deposits/returning.ts',
    ],
    tests: ['x402/route', 'x402/attacks', 'x402/serviceFee', 'kills/deposits'],
  },
];

const { SyntaxKind } = ts;
/** The operator that stands in for another. */
const SWAPS = new Map<ts.SyntaxKind, string>([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
  [SyntaxKind.PlusToken, '-'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '+'],
]);
const SQL_SWAPS: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '=': '<>',
  '<>': '=',
  '+': '-',
  '-': '+',
  AND: 'OR',
};
const SQL_OPERATOR = /(?<= )(?:<=?|>=?|<>|[-=+]|AND)(?= )/g;

export function findRelayMutants(): RelayMutant[] {
  return PATHS.flatMap(({ files, tests }) =>
    files.flatMap((name) => {
      const file = `app/relay/${name}`;
      return mutantsOf(
        file,
        readFileSync(join(TREE, file), 'utf8'),
        tests.map((test) => `tests/relay/${test}.test.ts`),
      );
    }),
  );
}

function mutantsOf(file: string, text: string, tests: string[]): RelayMutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const found: RelayMutant[] = [];
  const add = (start: number, end: number, replacement: string) => {
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const shown = oneLine(text.split('\n')[line - 1]!);
    found.push({
      ...{ kind: 'relay', id: `${file}:${start} ${replacement} ${version}`, file, line, error: null, tests },
      text: `${oneLine(text.slice(start, end))} becomes ${replacement || 'nothing'} in: ${shown}`,
      edit: { start, end, replacement },
    });
  };
  const visit = (node: ts.Node) => {
    if (ts.isBinaryExpression(node)) {
      const swap = SWAPS.get(node.operatorToken.kind);
      if (swap) add(node.operatorToken.getStart(), node.operatorToken.getEnd(), swap);
    }
    if (ts.isIfStatement(node)) add(node.expression.getStart(), node.expression.getEnd(), 'false');
    if (ts.isExpressionStatement(node)) add(node.getStart(), node.getEnd(), ';');
    if (ts.isTemplateLiteralToken(node)) {
      for (const { 0: operator, index } of node.getText().matchAll(SQL_OPERATOR)) {
        const start = node.getStart() + index;
        add(start, start + operator.length, SQL_SWAPS[operator]!);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
