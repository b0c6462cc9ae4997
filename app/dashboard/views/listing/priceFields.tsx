/** The price of a call, its timeouts, and the required collateral. */
import { useQuery } from '@tanstack/react-query';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { fundsQuery } from '../../parts/funds.tsx';
import { CardHead } from '../../parts/heads.tsx';
import { cx, Input, Note, Skeleton } from '../../parts/ui.tsx';
import { formatAmount } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { useSession } from '../../wallet/session.ts';
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
  const { wallet } = useSession();
  const { data: funds } = useQuery(fundsQuery(wallet ?? undefined));
  if (!config) return <Skeleton className="h-56" />;
  const tier = tierOf(price, config);
  const missing = tier ? lessUsdc(tier.deposit_usdc, held) : 0;
  const balance = funds ? toUsdc(funds.usdc ?? 0n) : null;
  return (
    <section className="grid gap-4" aria-label="Collateral">
      <CardHead
        as="h3"
        title="Collateral"
        about="It backs your agent, and stays in an account of the on-chain program. By the program’s rules, only a dispute that is upheld against you takes from it; you can take back the rest after you delist. With only the minimum, any award pauses the agent. You can top up after listing."
      />
      <div className="overflow-x-auto rounded-xl border border-line bg-raised">
        <table className="w-full text-sm tabular-nums">
          <caption className="sr-only">Collateral by price</caption>
          <thead className="border-b border-line text-left text-xs text-faint">
            <tr>
              <th scope="col" className="px-4 py-2.5 font-medium">
                Price of one call
              </th>
              <th scope="col" className="px-4 py-2.5 text-right font-medium">
                Minimum
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {config.collateral_tiers.map(({ max_price_usdc, deposit_usdc }) => {
              const isOurs = tier?.max_price_usdc === max_price_usdc;
              return (
                <tr key={max_price_usdc} className={cx(isOurs && 'bg-accent-soft font-medium text-accent')}>
                  <td className="px-4 py-2.5">
                    up to {formatAmount(max_price_usdc)}
                    {isOurs && ' · your tier'}
                  </td>
                  <td className="px-4 py-2.5 text-right whitespace-nowrap">{formatAmount(deposit_usdc)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {tier && held > 0 && (
        <Note tone={missing > 0 ? 'warn' : 'plain'}>
          {missing > 0
            ? `The agent holds ${formatAmount(held)}; this price needs ${formatAmount(missing)} more, which you add when you save.`
            : `The agent holds ${formatAmount(held)}, which is enough for this price.`}
        </Note>
      )}
      {missing > 0 && balance !== null && (
        <Note tone={balance < missing ? 'warn' : 'plain'}>
          {funds?.usdc === null
            ? `Your wallet has no USDC account yet. Send at least ${formatAmount(missing)} to it before you sign.`
            : `Your wallet holds ${formatAmount(balance)}.${balance < missing ? ` It needs ${formatAmount(lessUsdc(missing, balance))} more before you can sign.` : ''}`}
        </Note>
      )}
    </section>
  );
}
