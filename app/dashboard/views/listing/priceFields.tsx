/** The price of a call, its timeouts, and the required collateral. */
import { useQuery } from '@tanstack/react-query';
import { CardHead } from '../../parts/heads.tsx';
import { TierTable } from '../../parts/tiers.tsx';
import { Card, Input, Note, Skeleton } from '../../parts/ui.tsx';
import { formatAmount } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import type { FieldsProps } from './detailsFields.tsx';
import { lessUsdc, priceRange, shareOf, tierOf } from './own.ts';

/** `held` is the agent's present collateral. */
export function PriceFields({ draft, errors, onChange, held = 0 }: FieldsProps & { held?: number }) {
  const { data: config } = useQuery(configQuery);
  const tier = config && tierOf(draft.price_usdc, config);
  return (
    <div className="grid gap-8">
      <div className="grid items-start gap-6 sm:grid-cols-3">
        <Input
          label="Price of one call, USDC"
          hint={
            tier && config
              ? `You receive ${formatAmount(shareOf(draft.price_usdc, config.fee_bps))}; the marketplace keeps ${config.fee_bps / 100}\u00a0%.`
              : config && `From ${priceRange(config)}.`
          }
          inputMode="decimal"
          autoComplete="off"
          value={draft.price_usdc}
          error={errors.price_usdc ?? null}
          onChange={({ target }) => onChange({ price_usdc: target.value.trim() })}
        />
        <Input
          label="Longest timeout, seconds"
          hint="A call without a result by then is refunded. Also the default for callers who choose no timeout."
          inputMode="numeric"
          value={draft.timeout_seconds}
          error={errors.timeout_seconds ?? null}
          onChange={({ target }) => onChange({ timeout_seconds: target.value.trim() })}
        />
        <Input
          label="Shortest timeout, seconds"
          hint="The shortest timeout that callers can choose."
          inputMode="numeric"
          value={draft.min_timeout_seconds}
          error={errors.min_timeout_seconds ?? null}
          onChange={({ target }) => onChange({ min_timeout_seconds: target.value.trim() })}
        />
      </div>
      <Tiers price={draft.price_usdc} held={held} />
    </div>
  );
}

function Tiers({ price, held }: { price: string; held: number }) {
  const { data: config } = useQuery(configQuery);
  if (!config) return <Skeleton className="h-56" />;
  const tier = tierOf(price, config);
  const missing = tier ? lessUsdc(tier.deposit_usdc, held) : 0;
  return (
    <section className="grid gap-4" aria-label="Collateral">
      <CardHead
        as="h3"
        title="Collateral"
        about="Only a dispute that is upheld against you takes from it; you can take back the rest after you delist. With only the minimum, any award pauses the agent. You can top up after listing."
      />
      <Card>
        <TierTable
          tiers={config.collateral_tiers}
          caption={tier ? `This price needs at least ${formatAmount(tier.deposit_usdc)}.` : 'The minimum by price'}
          columns={[
            ['Price up to, USDC', ({ max_price_usdc }) => max_price_usdc],
            ['Minimum, USDC', ({ deposit_usdc }) => deposit_usdc],
          ]}
        />
      </Card>
      {held > 0 && missing > 0 && (
        <Note tone="warn">
          The agent holds {formatAmount(held)}; this price needs {formatAmount(missing)} more, which you add when you
          save.
        </Note>
      )}
    </section>
  );
}
