/** The fields of a key's limits, stored on the chain, and of its restrictions, stored by the marketplace. */
import type { ReactNode } from 'react';
import type { KeyGrant } from '../../../sdk/program/program.ts';
import { KEY_SCOPES, type KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { PROCEDURES } from '../../../sdk/wire/procedures.ts';
import { formatUsdc, parseUsdc } from '../../../sdk/wire/usdc.ts';
import { Checkbox, Input, Select, TextArea } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';

/** The value of a text, or its fault. */
export type Reading<T> = { value: T; error: null } | { value: undefined; error: string };

export function read<T>(parse: () => T): Reading<T> {
  try {
    return { value: parse(), error: null };
  } catch (error) {
    return { value: undefined, error: (error as Error).message };
  }
}

/** The limits as typed. */
export interface LimitTexts {
  perExecution: string;
  perPeriod: string;
  periodSeconds: string;
  total: string;
  /** Days from now; empty keeps the present expiry. */
  days: string;
  maxGas: string;
}

const HOUR = 3_600;
const DAY = 86_400;
const PERIODS = [HOUR, DAY, 7 * DAY, 30 * DAY];

export const USUAL_LIMITS: Omit<LimitTexts, 'maxGas'> = {
  perExecution: '10',
  perPeriod: '50',
  periodSeconds: String(DAY),
  total: '100',
  days: '90',
};

export function textsOf(grant: KeyGrant): LimitTexts {
  return {
    perExecution: formatUsdc(grant.perExecutionMax),
    perPeriod: formatUsdc(grant.periodMax),
    periodSeconds: String(grant.periodSeconds),
    total: formatUsdc(grant.totalMax),
    days: '',
    maxGas: String(grant.maxGasLamports),
  };
}

export function readLimitTexts(texts: LimitTexts, most: { grantDays: number; gasPerCall: number }, mayKeepEnd = false) {
  const days = texts.days.trim();
  return {
    perExecution: read(() => positive(texts.perExecution)),
    perPeriod: read(() => positive(texts.perPeriod)),
    total: read(() => positive(texts.total)),
    days: read(() => (mayKeepEnd && days === '' ? null : whole(days, 1, most.grantDays, 'days'))),
    maxGas: read(() => whole(texts.maxGas, 0, most.gasPerCall, 'lamports')),
  };
}

export type LimitReadings = ReturnType<typeof readLimitTexts>;

function positive(text: string): bigint {
  const amount = parseUsdc(text.trim());
  if (amount === 0n) throw new RangeError('It must be more than 0.');
  return amount;
}

function whole(text: string, least: number, most: number, unit: string): number {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new RangeError(`It must be a whole number of ${unit} from ${least} to ${most}.`);
}

interface LimitFieldsProps {
  texts: LimitTexts;
  readings: LimitReadings;
  onChange(texts: LimitTexts): void;
  /** Label of the field of days. */
  end: { label: string; hint: string };
  /** Another field beside it. */
  children: ReactNode;
}

export function LimitFields({ texts, readings, onChange, end, children }: LimitFieldsProps) {
  const field = (name: keyof LimitTexts) => ({
    value: texts[name],
    onChange: (event: { target: { value: string } }) => onChange({ ...texts, [name]: event.target.value }),
  });
  const periods = [...new Set([...PERIODS, Number(texts.periodSeconds)])].sort((one, other) => one - other);
  return (
    <fieldset className="grid grid-cols-2 items-start gap-4">
      <legend className="mb-3 text-sm text-faint">Spending limits, enforced by the chain</legend>
      <Input
        label="Per call, USDC"
        inputMode="decimal"
        {...field('perExecution')}
        error={readings.perExecution.error}
      />
      <Input label="In total, USDC" inputMode="decimal" {...field('total')} error={readings.total.error} />
      <Input label="Per period, USDC" inputMode="decimal" {...field('perPeriod')} error={readings.perPeriod.error} />
      <Select label="Period" {...field('periodSeconds')}>
        {periods.map((seconds) => (
          <option key={seconds} value={seconds}>
            {formatSpan(seconds)}
          </option>
        ))}
      </Select>
      <Input label={end.label} hint={end.hint} inputMode="numeric" {...field('days')} error={readings.days.error} />
      {children}
    </fieldset>
  );
}

export function GasField({
  text,
  error,
  onChange,
}: {
  text: string;
  error: string | null;
  onChange(text: string): void;
}) {
  return (
    <Input
      label="Most fees per call, lamports"
      hint="The most that one call may take from the gas balance"
      inputMode="numeric"
      value={text}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    />
  );
}

const SCOPES: Record<KeyScope, { label: string; hint: string }> = {
  execute: { label: 'Execute', hint: 'Call agents and spend within the limits' },
  read: { label: 'Read', hint: 'Read executions and their results' },
  webhooks: { label: 'Webhooks', hint: 'Manage webhook endpoints of the wallet, which stay after the key has ended' },
};

export function ScopeFields({ scopes, onChange }: { scopes: KeyScope[]; onChange(scopes: KeyScope[]): void }) {
  return (
    <fieldset className="grid gap-3 sm:grid-cols-2">
      <legend className="mb-2 text-sm font-medium">What it may do</legend>
      {KEY_SCOPES.map((scope) => (
        <Checkbox
          key={scope}
          {...SCOPES[scope]}
          checked={scopes.includes(scope)}
          onChange={(event) =>
            onChange(KEY_SCOPES.filter((one) => (one === scope ? event.target.checked : scopes.includes(one))))
          }
        />
      ))}
      {scopes.length === 0 && <p className="text-xs text-bad sm:col-span-2">Choose at least one.</p>}
    </fieldset>
  );
}

const LISTS = {
  allowed_ips: {
    label: 'Only from these addresses',
    hint: 'IP addresses or CIDR blocks such as 203.0.113.0/24, one per line. Empty: any address.',
  },
  allowed_agents: {
    label: 'Only these agents',
    hint: 'Agent ids, one per line. Empty: any agent. The marketplace enforces this, not the chain.',
  },
};

interface ListFieldProps {
  name: keyof typeof LISTS;
  text: string;
  onChange(text: string): void;
}

/** A restriction at the marketplace to some addresses or agents. */
export function ListField({ name, text, onChange }: ListFieldProps) {
  const error = listError(name, listOf(text));
  return (
    <TextArea
      {...LISTS[name]}
      error={error && `Each ${error}`}
      rows={2}
      spellCheck={false}
      className="min-h-16 font-mono"
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** The entries of such a field; null if it is empty. */
export function listOf(text: string): string[] | null {
  const entries = text.split(/[\s,]+/).filter((part) => part !== '');
  return entries.length === 0 ? null : entries;
}

/** Shown beside a disabled button while a field shows an error. */
export const CORRECT_FIRST = 'Correct the marked fields first.';

const RULES = PROCEDURES['keys.register'].input.shape;

/** The marketplace's error for this name; null if it is valid. */
export const nameError = (name: string): string | null => RULES.name.safeParse(name).error?.issues[0]?.message ?? null;

export const listError = (name: keyof typeof LISTS, entries: string[] | null): string | null =>
  RULES[name].safeParse(entries).error?.issues[0]?.message ?? null;
