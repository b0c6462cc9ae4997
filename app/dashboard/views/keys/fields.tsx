/** The fields of a key's limits, stored on the chain, and of its restrictions, stored by the marketplace. */
import { type ReactNode, useState } from 'react';
import type { GrantFields } from '../../../sdk/receipt/onChain.ts';
import { accessProcedures } from '../../../sdk/wire/accessProcedures.ts';
import { KEY_SCOPES, type KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { formatUsdc, parseUsdc } from '../../../sdk/wire/usdc.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { read } from '../../parts/reading.ts';
import { Checkbox, Input, Select, TextArea } from '../../parts/ui.tsx';
import { formatSpan, formatUnits, Id } from '../../parts/values.tsx';
import type { WalletMoney } from './money.ts';
import { HOUR, PERIODS, type Reach, SCOPES, spendWords, WEEK } from './words.ts';

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

const OFFERED = [HOUR, DAY_SECONDS, WEEK, 30 * DAY_SECONDS];

export const USUAL_LIMITS: Omit<LimitTexts, 'maxGas'> = {
  perExecution: '1',
  perPeriod: '50',
  periodSeconds: String(DAY_SECONDS),
  total: '100',
  days: '90',
};

export function textsOf(grant: GrantFields): LimitTexts {
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
}

const fieldOf =
  ({ texts, onChange }: LimitFieldsProps) =>
  (name: keyof LimitTexts) => ({
    value: texts[name],
    onChange: (event: { target: { value: string } }) => onChange({ ...texts, [name]: event.target.value }),
  });

interface SpendFieldsProps extends LimitFieldsProps {
  /** Null while it is not valid. */
  reach: Reach | null;
  /** When a period starts. */
  periodHint: string;
  end: { label: string; hint: string };
}

/** The sentences that the fields make; null while one of them is not valid. */
function wordsOf({ texts, readings, reach }: Pick<SpendFieldsProps, 'texts' | 'readings' | 'reach'>) {
  const { perPeriod, total, perExecution } = readings;
  if (perPeriod.error !== null || total.error !== null || perExecution.error !== null || !reach) return null;
  const [periodMax, totalMax, perExecutionMax] = [perPeriod.value, total.value, perExecution.value];
  return spendWords({ periodMax, totalMax, perExecutionMax, periodSeconds: Number(texts.periodSeconds) }, reach);
}

/** What a key may spend and until when. */
export function SpendFields(props: SpendFieldsProps) {
  const { texts, readings, periodHint, end } = props;
  const field = fieldOf(props);
  const periods = [...new Set([...OFFERED, Number(texts.periodSeconds)])].sort((one, other) => one - other);
  const [perPeriod, total, perExecution] = [readings.perPeriod, readings.total, readings.perExecution];
  const words = wordsOf(props);
  return (
    <div className="grid gap-3">
      <div className="grid grid-cols-2 items-start gap-4 sm:grid-cols-6 sm:*:col-span-2 sm:*:nth-[n+4]:col-span-3">
        <Input label="May spend, USDC" inputMode="decimal" {...field('perPeriod')} error={perPeriod.error} />
        <Select label="Per" hint={periodHint} {...field('periodSeconds')}>
          {periods.map((seconds) => (
            <option key={seconds} value={seconds}>
              {PERIODS[seconds] ?? formatSpan(seconds)}
            </option>
          ))}
        </Select>
        <Input label="In total, USDC" inputMode="decimal" {...field('total')} error={total.error} />
        <Input label="Per call, USDC" inputMode="decimal" {...field('perExecution')} error={perExecution.error} />
        <Input label={end.label} hint={end.hint} inputMode="numeric" {...field('days')} error={readings.days.error} />
      </div>
      <div className="min-h-15 text-sm" aria-live="polite">
        {words && (
          <>
            <p className="font-medium tabular-nums">
              The key may spend {words.chain} {words.unlimited && <span className="text-warn">{words.unlimited} </span>}
              <span className="font-normal">The chain enforces this.</span>
            </p>
            <p>{words.service}</p>
          </>
        )}
      </div>
    </div>
  );
}

/** The limit of network fees, whose default fits nearly every key. */
export function GasLimit(props: LimitFieldsProps) {
  return (
    <Input
      label="Network fees per call, lamports"
      hint="The most that one call may take from the gas balance"
      inputMode="numeric"
      {...fieldOf(props)('maxGas')}
      error={props.readings.maxGas.error}
    />
  );
}

interface AdvancedProps {
  /** What is inside, for the summary. */
  about: string;
  hasErrors: boolean;
  children: ReactNode;
}

/** Folded, because its defaults fit nearly everybody. It opens if something in it is wrong. */
export function Advanced({ about, hasErrors, children }: AdvancedProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen || hasErrors} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-sm">
        Advanced <span className="font-normal text-faint">{about}</span>
      </summary>
      <div className="mt-4 grid gap-4">{children}</div>
    </details>
  );
}

export function ScopeFields({ scopes, onChange }: { scopes: KeyScope[]; onChange(scopes: KeyScope[]): void }) {
  return (
    <fieldset className="grid gap-3">
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
      {scopes.length === 0 && <p className="text-sm text-bad">Choose at least one.</p>}
    </fieldset>
  );
}

const LISTS = {
  allowed_ips: {
    label: 'Only from these IP addresses',
    hint: 'Addresses or CIDR blocks such as 203.0.113.0/24, one per line. Empty: any IP address.',
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
function listOf(text: string): string[] | null {
  const entries = text.split(/[\s,]+/).filter((part) => part !== '');
  return entries.length === 0 ? null : entries;
}

interface Restrictions {
  scopes: readonly KeyScope[];
  allowed_ips: readonly string[] | null;
  allowed_agents: readonly string[] | null;
}

/** What a key may do and for whom, while it is edited. */
export function useRestrictions(before: Restrictions) {
  const [scopes, setScopes] = useState<KeyScope[]>(() => [...before.scopes]);
  const [texts, setTexts] = useState({
    allowed_ips: before.allowed_ips?.join('\n') ?? '',
    allowed_agents: before.allowed_agents?.join('\n') ?? '',
  });
  const [allowedIps, allowedAgents] = [listOf(texts.allowed_ips), listOf(texts.allowed_agents)];
  return {
    scopes,
    allowedIps,
    allowedAgents,
    hasListErrors: listError('allowed_ips', allowedIps) !== null || listError('allowed_agents', allowedAgents) !== null,
    fieldsOfScopes: { scopes, onChange: setScopes },
    fieldOf: (name: keyof typeof LISTS) => ({
      name,
      text: texts[name],
      onChange: (text: string) => setTexts({ ...texts, [name]: text }),
    }),
  };
}

interface ReplaceDelegateProps {
  delegate: NonNullable<WalletMoney['otherDelegate']>;
  value: boolean;
  onChange(mayReplace: boolean): void;
}

export function ReplaceDelegate({ delegate, value, onChange }: ReplaceDelegateProps) {
  return (
    <Checkbox
      checked={value}
      onChange={(event) => onChange(event.target.checked)}
      label="Replace another program’s allowance"
      hint={
        <>
          A USDC account can have only one delegate. <Id value={delegate.address} kind="address" /> is the present one
          and loses its allowance of {formatUnits(delegate.allowance)}.
        </>
      }
    />
  );
}

/** Shown beside a disabled button while a field shows an error. */
export const CORRECT_FIRST = 'Correct the marked fields first.';

const RULES = accessProcedures['keys.register'].input.shape;

/** The marketplace's error for this name; null if it is valid. */
export const nameError = (name: string): string | null => RULES.name.safeParse(name).error?.issues[0]?.message ?? null;

const listError = (name: keyof typeof LISTS, entries: string[] | null): string | null =>
  RULES[name].safeParse(entries).error?.issues[0]?.message ?? null;
