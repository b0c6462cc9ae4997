/** The collateral for each range of prices, cheapest first. */
import { CrossIcon } from '../../parts/icons.tsx';
import { Button, cx, Input } from '../../parts/ui.tsx';
import type { TierDraft } from './draft.ts';

interface TiersProps {
  tiers: TierDraft[];
  most: number;
  fault: string | null;
  onChange(tiers: TierDraft[]): void;
}

export function Tiers({ tiers, most, fault, onChange }: TiersProps) {
  const change = (index: number, part: Partial<TierDraft>) =>
    onChange(tiers.map((tier, at) => (at === index ? { ...tier, ...part } : tier)));
  return (
    <fieldset>
      <legend className="text-sm font-medium">Collateral by price, USDC</legend>
      <p className="mt-1 mb-4 text-sm text-faint">The last tier also sets the highest possible price.</p>
      <ol className="grid gap-1.5">
        {tiers.map((tier, index) => (
          <li
            key={index}
            className="grid grid-cols-[1fr_1fr_auto] items-end gap-3 sm:grid-cols-[12rem_12rem_auto] sm:justify-start"
          >
            <Input
              label={<Label index={index}>Price up to</Label>}
              value={tier.maxPrice}
              inputMode="decimal"
              autoComplete="off"
              onChange={(event) => change(index, { maxPrice: event.target.value })}
            />
            <Input
              label={<Label index={index}>Collateral</Label>}
              value={tier.deposit}
              inputMode="decimal"
              autoComplete="off"
              onChange={(event) => change(index, { deposit: event.target.value })}
            />
            <Button
              className="px-3"
              aria-label={`Remove tier ${index + 1}`}
              disabled={tiers.length === 1}
              onClick={() => onChange(tiers.filter((_, at) => at !== index))}
            >
              <CrossIcon />
            </Button>
          </li>
        ))}
      </ol>
      {fault && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {fault}
        </p>
      )}
      <div className="mt-4 flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button
          small
          disabled={tiers.length >= most}
          onClick={() => onChange([...tiers, { maxPrice: '', deposit: '' }])}
        >
          Add a tier
        </Button>
        {tiers.length >= most && <span className="text-sm text-faint">There can be at most {most} tiers.</span>}
      </div>
    </fieldset>
  );
}

/** Seen once above its column. */
const Label = ({ index, children }: { index: number; children: string }) => (
  <span className={cx(index > 0 && 'sr-only')}>
    <span className="sr-only">Tier {index + 1}: </span>
    {children}
  </span>
);
