/** The USDC that the marketplace's program holds, by its purpose. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { OperationState } from '../../../sdk/wire/operationProcedures.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Card, Facts } from '../../parts/ui.tsx';
import { formatAmount, formatCount } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { readAccounts, tokenOf } from '../../wallet/accounts.ts';

/** Poll interval, ms. */
const REFRESH_MS = 30_000;

/** USDC in the treasury; undefined until it is read, null if it has no account. */
function useTreasury(): number | null | undefined {
  const { data: config } = useQuery(configQuery);
  const { data } = useQuery({
    queryKey: ['treasury', config?.treasury],
    queryFn: async () => {
      const token = tokenOf((await readAccounts([config!.treasury]))[0]);
      return token && toUsdc(token.amount);
    },
    enabled: config !== undefined,
    refetchInterval: REFRESH_MS,
  });
  return data;
}

export function HeldUsdc({ state: { held, listings } }: { state: OperationState }) {
  const treasury = useTreasury();
  const agents = listings.active + listings.paused;
  return (
    <Card className="grid content-start gap-4">
      <h2 className="font-semibold">USDC held</h2>
      <Facts
        rows={[
          ['In escrow for open calls', formatAmount(held.escrow_usdc)],
          [
            'Collateral',
            `${formatAmount(held.collateral_usdc)}, for ${formatCount(agents)} listed ${agents === 1 ? 'agent' : 'agents'}`,
          ],
          ['Kept from awards', `${formatAmount(held.forfeited_usdc)}, for later callers`],
          [
            'Treasury',
            <span key="treasury" className="flex flex-wrap gap-x-3">
              {treasury == null ? '–' : formatAmount(treasury)}
              <Link to="/admin" search={{ tab: 'settings' }} className="text-accent underline">
                Withdraw in Settings
              </Link>
            </span>,
          ],
        ]}
      />
    </Card>
  );
}
