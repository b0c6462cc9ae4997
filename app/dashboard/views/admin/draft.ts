/** Settings as typed, their faults, and their changes. */
import type { SettingsChange } from '../../../sdk/wallet/settings.ts';
import { own } from '../../../sdk/wire/own.ts';
import { formatSol, parseSol } from '../../../sdk/wire/sol.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { typedNumber } from '../../parts/amount.ts';
import { read } from '../../parts/reading.ts';
import { formatCount, formatLamports, formatSpan, formatUnits } from '../../parts/values.tsx';
import { EFFECTS, LABELS } from '../terms/effects.ts';
import type { Limits, Settings } from './chainConfig.ts';

export interface TierDraft {
  maxPrice: string;
  deposit: string;
}

export type FieldName =
  | 'feeBps'
  | 'minPrice'
  | 'disputeBondLamports'
  | 'disputeWindowSeconds'
  | 'refundGraceSeconds'
  | 'maxTimeoutSeconds'
  | 'recordSeconds'
  | 'exposureMultiple';

export type Draft = Record<FieldName, string> & { tiers: TierDraft[] };

/** The input format of a number, and its bounds. */
interface Bounds {
  min: bigint;
  max: bigint;
  parse(text: string): bigint;
  /** As text with a unit, such as `3 days`. */
  show(value: bigint): string;
}

/** A setting of one number. */
export interface SettingField extends Bounds {
  name: FieldName;
  label: string;
  about: string;
  /** When a change counts, and for whom. */
  effect: string;
  /** True for a time, as a number and a unit. */
  isSpan: boolean;
}

/** Units of a time, seconds. */
export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };

function parseCount(text: string): bigint {
  if (!/^(0|[1-9][0-9]{0,18})$/.test(text)) throw new RangeError('It must be a whole number.');
  return BigInt(text);
}

/** `3 days` in seconds. */
function parseSpan(text: string): bigint {
  const space = text.lastIndexOf(' ');
  return parseCount(text.slice(0, space).trim()) * BigInt(own(UNITS, text.slice(space + 1)) ?? 0);
}

/** Seconds in the largest unit that divides them. */
function spanOf(seconds: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, size]) => seconds % size === 0)!;
  return `${seconds / size} ${unit}`;
}

/** Percent as basis points. */
function parsePercent(text: string): bigint {
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(text)) throw new RangeError('It must be a number with at most two decimals.');
  return BigInt(Math.round(Number(text) * 100));
}

const showSpan = (value: bigint) => formatSpan(Number(value));

/** The delay of changes, which only grows. */
export const delayField = (limits: Limits, now: number): Bounds => ({
  min: BigInt(now + 1),
  max: BigInt(limits.adminDelaySecondsMax),
  parse: parseSpan,
  show: showSpan,
});

interface Form extends Pick<Bounds, 'parse' | 'show'> {
  setting: keyof typeof EFFECTS;
  /** After the name of the field. */
  unit?: string;
}

const spanForm = (setting: Form['setting']): Form => ({ setting, parse: parseSpan, show: showSpan });

/** In the order in which they are shown. */
export const FORMS: Record<FieldName, Form> = {
  feeBps: { setting: 'fee', unit: ', %', parse: parsePercent, show: (value) => `${Number(value) / 100} %` },
  minPrice: { setting: 'min_price', unit: ', USDC', parse: parseUsdc, show: formatUnits },
  disputeBondLamports: { setting: 'dispute_bond', unit: ', SOL', parse: parseSol, show: formatLamports },
  disputeWindowSeconds: spanForm('dispute_window'),
  refundGraceSeconds: spanForm('refund_grace'),
  maxTimeoutSeconds: spanForm('max_timeout'),
  recordSeconds: spanForm('record_time'),
  exposureMultiple: {
    setting: 'exposure_multiple',
    unit: ', ×\u00a0collateral',
    parse: parseCount,
    show: (value) => (value === 0n ? 'no cap' : `${value} times the collateral`),
  },
};

export function fieldsOf(limits: Limits): SettingField[] {
  const bounds: Record<FieldName, [min: bigint | number, max: bigint | number, about: string]> = {
    feeBps: [0, limits.maxFeeBps, `Of every settled price, at most ${limits.maxFeeBps / 100} %.`],
    minPrice: [limits.minPriceFloor, limits.minPriceCeiling, 'That a listing can have.'],
    disputeBondLamports: [
      0,
      limits.disputeBondLamportsMax,
      `Locked from the opening of a dispute to its end; at most ${formatLamports(limits.disputeBondLamportsMax)}.`,
    ],
    disputeWindowSeconds: [
      limits.disputeWindowSecondsMin,
      limits.disputeWindowSecondsMax,
      'From the end of a settled call.',
    ],
    refundGraceSeconds: [
      limits.refundGraceSecondsMin,
      limits.refundGraceSecondsMax,
      'From a call’s deadline until anybody can refund it.',
    ],
    maxTimeoutSeconds: [limits.maxTimeoutSecondsMin, limits.maxTimeoutSecondsMax, 'That a listing can have.'],
    recordSeconds: [
      limits.recordSecondsMin,
      limits.recordSecondsMax,
      'From the end of a paid call. Does not shorten its dispute window.',
    ],
    exposureMultiple: [
      0,
      limits.exposureMultipleMax,
      `The most that the prices of an agent’s calls in one dispute window can add up to. 0: no cap; at most ${formatCount(limits.exposureMultipleMax)}.`,
    ],
  };
  return (Object.keys(FORMS) as FieldName[]).map((name) => {
    const { setting, unit = '', parse, show } = FORMS[name];
    const [min, max, about] = bounds[name];
    const shared = { name, about, parse, show, effect: EFFECTS[setting], isSpan: parse === parseSpan };
    return { ...shared, label: `${LABELS[setting]}${unit}`, min: BigInt(min), max: BigInt(max) };
  });
}

export function draftOf(config: Settings): Draft {
  return {
    feeBps: `${config.fee_bps / 100}`,
    minPrice: typedNumber(Number(config.min_price_usdc)),
    disputeBondLamports: formatSol(BigInt(config.dispute_bond_lamports)),
    disputeWindowSeconds: spanOf(config.dispute_window_seconds),
    refundGraceSeconds: spanOf(config.refund_grace_seconds),
    maxTimeoutSeconds: spanOf(config.max_timeout_seconds),
    recordSeconds: spanOf(config.record_seconds),
    exposureMultiple: `${config.exposure_multiple}`,
    tiers: config.tiers.map(({ max_price_usdc, deposit_usdc }) => ({
      maxPrice: typedNumber(Number(max_price_usdc)),
      deposit: typedNumber(Number(deposit_usdc)),
    })),
  };
}

/** The fault of a field's text; null if there is none. */
export function faultOf(field: Bounds, text: string): string | null {
  return read(() => {
    const value = field.parse(text.trim());
    if (value < field.min || value > field.max)
      throw new RangeError(`It must be from ${field.show(field.min)} to ${field.show(field.max)}.`);
  }).error;
}

/** The fault of the tiers, which the program accepts only in ascending order. */
export function tierFault(tiers: TierDraft[]): string | null {
  return read(() => {
    const prices = parseTiers(tiers).map(({ maxPrice }) => maxPrice);
    if (prices.length === 0) throw new RangeError('There must be at least one tier.');
    if (prices.some((price, index) => index > 0 && price <= prices[index - 1]!))
      throw new RangeError('Each tier must have a higher price than the tier before it.');
  }).error;
}

const parseTiers = (tiers: TierDraft[]) =>
  tiers.map(({ maxPrice, deposit }) => ({ maxPrice: parseUsdc(maxPrice.trim()), deposit: parseUsdc(deposit.trim()) }));

const showTiers = (tiers: TierDraft[]): string =>
  parseTiers(tiers)
    .map(({ maxPrice, deposit }) => `up to ${formatUnits(maxPrice)}: ${formatUnits(deposit)}`)
    .join('; ');

export interface Change {
  label: string;
  before: string;
  after: string;
  effect: string;
}

/** Amounts, in base units; the others are numbers. */
const IN_UNITS: readonly FieldName[] = ['minPrice', 'disputeBondLamports'];

/** The differences from the chain: as text to review, and as the change to sign. Only for drafts without faults. */
export function changesOf(fields: SettingField[], before: Draft, after: Draft) {
  const changed = fields.filter((field) => field.parse(before[field.name]) !== field.parse(after[field.name].trim()));
  const changes: Change[] = changed.map((field) => ({
    label: field.label,
    effect: field.effect,
    before: field.show(field.parse(before[field.name])),
    after: field.show(field.parse(after[field.name].trim())),
  }));
  const settings = Object.fromEntries(
    changed.map(({ name, parse }) => {
      const value = parse(after[name].trim());
      return [name, IN_UNITS.includes(name) ? value : Number(value)];
    }),
  ) as SettingsChange;
  if (showTiers(before.tiers) !== showTiers(after.tiers)) {
    settings.tiers = parseTiers(after.tiers);
    changes.push({
      label: 'Collateral',
      before: showTiers(before.tiers),
      after: showTiers(after.tiers),
      effect: EFFECTS.collateral_tiers,
    });
  }
  return { changes, settings };
}
