/** What the marketplace holds for others, beside the same on the chain. */
import { useQuery } from '@tanstack/react-query';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { formatterOf } from '../../parts/amount.ts';
import { Card, Strong } from '../../parts/ui.tsx';
import { configQuery } from '../../service.ts';
import { excessEnd } from '../disputes/payouts.ts';
import { Compare } from './compare.tsx';
import { FigureTable } from './figures.tsx';

export function HeldUsdc({ state: { held, x402 } }: { state: OperationState }) {
  const { data: config } = useQuery(configQuery);
  const rows = [
    ['Escrow of calls in progress', held.escrow_usdc],
    x402 !== null && ['Payments by x402 that wait for their call, with service fees', held.deposits_usdc],
    ['Collateral, also of delisted agents until it is returned', held.collateral_usdc],
    ['Taken by disputes, kept for later callers', held.forfeited_usdc],
    held.owed_usdc > 0 && ['Awards not yet received by their callers', held.owed_usdc],
    held.unclaimed_usdc > 0 && ['Refunds not yet received by their callers', held.unclaimed_usdc],
  ].filter((row) => row !== false) as [string, number][];
  const sum = toUsdc(rows.reduce((total, [, held]) => total + parseUsdc(held), 0n));
  const amount = formatterOf([...rows.map(([, held]) => held), sum]);
  return (
    <Card id="held" className="grid content-start gap-4">
      <h2 className="font-semibold">USDC held for others, by the ledger</h2>
      <FigureTable
        label="USDC held for others"
        heads={['USDC']}
        rows={[
          ...rows.map(([label, held]) => [label, amount(held)] as const),
          [<Strong key="sum">Sum</Strong>, <Strong key="usdc">{amount(sum)}</Strong>],
        ]}
      />
      {held.forfeited_usdc > 0 && config && (
        <p className="text-sm text-faint">
          Kept for later callers: it pays them when the agent’s collateral cannot.{' '}
          {excessEnd(config.longest_span_seconds)} Anybody can move it then: <code>listing sweep-forfeits</code>.
        </p>
      )}
      <Compare />
    </Card>
  );
}
