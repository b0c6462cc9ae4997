/** The settings to change, each within its bounds, and a review of old and new values before signing. */
import { useId, useState } from 'react';
import type { SettingsChange } from '../../../sdk/wallet/settings.ts';
import { CrossIcon } from '../../parts/icons.tsx';
import { TextLink } from '../../parts/links.tsx';
import { SignDialog } from '../../parts/sign.tsx';
import { Button, Card, CONTROL, cx, Field, type FieldProps, Input } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { delayWords } from '../terms/changes.tsx';
import { LONGER } from '../terms/effects.ts';
import type { ChainConfig, Limits, Settings } from './chainConfig.ts';
import {
  changesOf,
  type Draft,
  draftOf,
  faultOf,
  fieldsOf,
  type SettingField,
  type TierDraft,
  tierFault,
  UNITS,
} from './draft.ts';

interface SettingsFormProps {
  config: Settings;
  limits: Limits;
  mustWait: ChainConfig['mustWait'];
  /** The typed values; null if there are none. */
  draft: Draft | null;
  onDraft(draft: Draft | null): void;
}

export function SettingsForm({ config, limits, mustWait, draft, onDraft }: SettingsFormProps) {
  const fields = fieldsOf(limits);
  const present = draftOf(config);
  const [isReviewed, setReviewed] = useState(false);

  const shown = draft ?? present;
  const faults = Object.fromEntries(fields.map((field) => [field.name, faultOf(field, shown[field.name])]));
  const tiersWrong = tierFault(shown.tiers);
  const isWrong = tiersWrong !== null || Object.values(faults).some((fault) => fault !== null);
  const { changes, settings } = isWrong ? { changes: [], settings: {} } : changesOf(fields, present, shown);

  const whyNot = isWrong
    ? 'Correct the marked fields.'
    : changes.length === 0
      ? `Nothing is changed. ${whenWords(config.admin_delay_seconds)}`
      : null;
  const whyId = useId();
  const waits = mustWait(settings);

  const edit = (change: Partial<Draft>) => onDraft({ ...shown, ...change });

  return (
    <Card id="fees">
      <form
        className="grid gap-6"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setReviewed(true);
        }}
      >
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <h2 className="font-semibold">Fees and rules</h2>
          <TextLink to="/terms" className="text-sm">
            See them as callers do
          </TextLink>
        </div>
        <div className="grid items-start gap-x-6 gap-y-5 sm:grid-cols-2 lg:grid-cols-3">
          {fields.map((field) => {
            const { name, label, isSpan } = field;
            const shared = { label, hint: hintOf(field), error: faults[name] ?? null };
            return isSpan ? (
              <SpanInput key={name} {...shared} value={shown[name]} onChange={(text) => edit({ [name]: text })} />
            ) : (
              <Input
                key={name}
                {...shared}
                value={shown[name]}
                onChange={(event) => edit({ [name]: event.target.value })}
                inputMode="decimal"
                autoComplete="off"
                className="tabular-nums"
              />
            );
          })}
        </div>
        <Tiers
          tiers={shown.tiers}
          most={limits.maxCollateralTiers}
          fault={tiersWrong}
          onChange={(tiers) => edit({ tiers })}
        />
        <div
          className={cx(
            'flex flex-wrap items-center gap-3',
            draft &&
              'sticky bottom-0 -mx-4 -mb-4 rounded-b-xl border-t border-line bg-raised px-4 py-3 sm:-mx-5 sm:-mb-5 sm:px-5',
          )}
        >
          <Button type="submit" kind="primary" disabled={whyNot !== null} aria-describedby={whyNot ? whyId : undefined}>
            {changes.length > 1 ? `Review ${changes.length} changes` : 'Review changes'}
          </Button>
          {draft && <Button onClick={() => onDraft(null)}>Discard</Button>}
          {whyNot && (
            <p id={whyId} className="text-sm text-faint">
              {whyNot}
            </p>
          )}
        </div>
      </form>
      {isReviewed && (
        <SignDialog
          title={waits ? 'Announce these changes?' : 'Change these settings?'}
          about={[
            waits
              ? `${delayWords(config.admin_delay_seconds)} All changes in this review are announced together. You pay a refundable deposit, which returns when they are applied or cancelled.`
              : 'They apply as soon as the transaction is confirmed.',
            ...(changesTimes(settings) ? [LONGER] : []),
          ].join(' ')}
          rows={changes.map(({ label, before, after, effect }) => [
            label,
            <span key={label}>
              <span className="block">{`${before} → ${after}`}</span>
              <span className="text-faint">{effect}</span>
            </span>,
          ])}
          doing={waits ? 'Announcing the changes' : 'Changing the settings'}
          confirm={waits ? 'Sign and announce' : 'Sign and change'}
          work={async ({ marketplace, wallet, changeSettings, announceChange }) => {
            if (waits) await announceChange(marketplace, wallet, { settings });
            else await changeSettings(marketplace, wallet, settings);
          }}
          done={() => [waits ? 'The changes are announced' : 'The settings are changed']}
          onClose={() => setReviewed(false)}
          onDone={() => onDraft(null)}
        />
      )}
    </Card>
  );
}

const changesTimes = ({ disputeWindowSeconds, refundGraceSeconds, maxTimeoutSeconds }: SettingsChange): boolean =>
  (disputeWindowSeconds ?? refundGraceSeconds ?? maxTimeoutSeconds) !== undefined;

const whenWords = (delay: number): string =>
  delay === 0
    ? 'Changes apply as soon as you sign them.'
    : `The review says whether changes apply as soon as you sign them, or can be applied only ${formatSpan(delay)} later.`;

/** From 0 on, the description says the most. */
const hintOf = ({ about, min, max, show }: SettingField): string =>
  min === 0n ? about : `${about} ${show(min)} to ${show(max)}.`;

interface SpanInputProps extends FieldProps {
  /** Such as `3 days`. */
  value: string;
  onChange(value: string): void;
}

/** A time as a number and a unit, because seconds make a tenfold slip easy. */
export function SpanInput({ value, onChange, ...field }: SpanInputProps) {
  const space = value.lastIndexOf(' ');
  const [count, unit] = [value.slice(0, space), value.slice(space + 1)];
  return (
    <Field {...field}>
      {(props) => (
        <span className="grid grid-cols-[minmax(0,1fr)_7.5rem] gap-2">
          <input
            className={cx(CONTROL, 'tabular-nums')}
            value={count}
            inputMode="numeric"
            autoComplete="off"
            onChange={({ target }) => onChange(`${target.value} ${unit}`)}
            {...props}
          />
          <select
            className={cx(CONTROL, 'pr-8')}
            value={unit}
            aria-label={`Unit of ${field.label}`}
            onChange={({ target }) => onChange(`${count} ${target.value}`)}
          >
            {Object.keys(UNITS).map((name) => (
              <option key={name} value={name}>
                {count.trim() === '1' ? name.slice(0, -1) : name}
              </option>
            ))}
          </select>
        </span>
      )}
    </Field>
  );
}

interface TiersProps {
  tiers: TierDraft[];
  most: number;
  fault: string | null;
  onChange(tiers: TierDraft[]): void;
}

function Tiers({ tiers, most, fault, onChange }: TiersProps) {
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
