/** Shows values the same way everywhere: money, times, addresses, statuses, and texts to copy. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { own } from '../../sdk/wire/own.ts';
import { configQuery, explorerUrl } from '../service.ts';
import { group } from './amount.ts';
import { colour } from './colour.ts';
import { Icon } from './icons.tsx';
import { languageOf } from './language.ts';
import { useNow } from './now.ts';
import { Badge, Button, cx, type Tone } from './ui.tsx';

export { formatAmount, formatCents, formatLamports, formatNumber, formatUnits } from './amount.ts';

/** Three digits, for an axis. */
export const formatShort = (value: number): string => group(String(Number(value.toPrecision(3))));

/** `price, name, and tags`. */
export const formatList = (items: readonly string[]): string => new Intl.ListFormat('en').format(items);

export const formatCount = (count: number): string => group(String(count));
/** Such as `1 call`, `1,234 calls`. */
export const formatCounted = (count: number, one: string): string =>
  `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`;

export const formatRate = (rate: number): string => `${Math.floor(rate * 1_000) / 10} %`;

/** Milliseconds as text, such as `1.5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1) return 'under 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return formatSpan(ms / 1_000);
}

const SPANS: [seconds: number, unit: string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** Seconds as text in their two largest units, such as `2 days 3 hours`. */
export function formatSpan(seconds: number, { units = 2 } = {}): string {
  let rest = Math.max(0, Math.round(seconds));
  const words: string[] = [];
  for (const [size, unit] of SPANS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
    if (words.length === units) break;
  }
  return words.join(' ') || '0 seconds';
}

/** Created with the first time, because its creation blocks a slow phone. */
let zoneFormat: Intl.DateTimeFormat | undefined;

/** The short name of the reader's time zone, such as `GMT+1`; it may change within a year. */
export function zoneAt(at: number | Date): string {
  zoneFormat ??= new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });
  return zoneFormat.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** A time in the reader's zone, which it names; the exact one on hover. */
export function Time({ at, hasSeconds = false }: { at: string; hasSeconds?: boolean }) {
  const time = new Date(at);
  const timeStyle = hasSeconds ? 'medium' : 'short';
  return (
    <time dateTime={at} title={at}>
      {time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle })} {zoneAt(time)}
    </time>
  );
}

/** A day in the reader's zone; the exact time on hover. */
export const Day = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {new Date(at).toLocaleDateString(undefined, { dateStyle: 'medium' })}
  </time>
);

const AGO_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
/** After this time, a date says more, seconds. */
const AGO_SECONDS = 7 * 86_400;
/** A shown age is at most so old, ms. */
const AGO_MS = 30_000;

function agoText(at: string): string {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1_000);
  const time = new Date(at);
  const zone = ` ${zoneAt(time)}`;
  if (seconds > AGO_SECONDS)
    return `${time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}${zone}`;
  const clock = `${time.toLocaleTimeString(undefined, { timeStyle: 'medium' })}${zone}`;
  const [unit, size] = AGO_UNITS.find(([, size]) => seconds >= size) ?? [];
  if (!unit) return `just now, ${clock}`;
  const count = Math.floor(seconds / size);
  const ago = unit === 'day' && count === 1 ? 'yesterday' : `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  return `${ago}, ${clock}`;
}

/** The age of a time with its clock time, such as `5 minutes ago, 14:32:05 UTC`; the exact time on hover. */
export function Ago({ at }: { at: string }) {
  // Renders the age again.
  useNow(AGO_MS);
  return (
    <time
      dateTime={at}
      title={new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}
      className="whitespace-nowrap"
    >
      {agoText(at)}
    </time>
  );
}

/** The ends of an id, after its kind: `sha256:5d41c…1b9ab`. */
export function shorten(id: string): string {
  const [, kind = '', rest = id] = /^([a-z0-9]+:)(.+)$/.exec(id) ?? [];
  return rest.length > 13 ? `${kind}${rest.slice(0, 5)}…${rest.slice(-5)}` : id;
}

/** An id that is too long to read: its ends, the whole on hover, a copy button, and a link to the explorer. */
export function Id({ value, kind, full }: { value: string; kind?: 'address' | 'tx'; full?: boolean }) {
  const { data: config } = useQuery(configQuery);
  return (
    <span className="inline-flex max-w-full items-center gap-1 align-middle">
      <code title={value} className="font-mono text-[0.8125rem] break-all">
        {full ? value : shorten(value)}
      </code>
      <Copy text={value} what={value} bare />
      {kind && config && (
        <a
          href={explorerUrl(config, kind, value)}
          target="_blank"
          rel="noreferrer"
          className="inline-grid size-6 place-items-center rounded text-faint hover:text-accent print:hidden"
        >
          <Icon size="size-3.5" strokeLinejoin="miter">
            <path d="M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5" />
          </Icon>
          <span className="sr-only">{shorten(value)} in the explorer</span>
        </a>
      )}
    </span>
  );
}

const DONE_MS = 1_500;

interface CopyProps {
  text: string;
  /** What is copied, for the button without text. */
  what?: string;
  label?: string;
  bare?: boolean;
  onCopied?(): void;
}

/** Copies a text to the clipboard and confirms it. */
export function Copy({ text, what, label = 'Copy', bare, onCopied }: CopyProps) {
  const [done, setDone] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setDone(true);
    onCopied?.();
    setTimeout(() => setDone(false), DONE_MS);
  }
  if (!bare) {
    return (
      <Button small onClick={copy}>
        <span aria-live="polite">{done ? 'Copied' : label}</span>
      </Button>
    );
  }
  return (
    <button
      type="button"
      onClick={copy}
      aria-label={done ? 'Copied' : `Copy ${what ?? text}`}
      className="inline-grid size-6 shrink-0 place-items-center rounded text-faint hover:text-accent print:hidden"
    >
      <Icon size="size-3.5" strokeLinecap={done ? 'round' : 'butt'}>
        <path d={done ? 'm3 8.5 3.2 3L13 5' : 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7'} />
      </Icon>
    </button>
  );
}

interface CodeProps {
  text: string;
  label: string;
  /** Name of the file to save it as. */
  file?: string;
  /** Code to run: all lines, and long ones scroll sideways instead of breaking. */
  isWhole?: boolean;
}

/** Characters of a line that stay readable beside the button on a phone. */
const BESIDE_LENGTH = 120;

/** Code to read and to copy: a line beside its button, and more lines below a head with the file's name or the language. */
export function Code({ text, label, file, isWhole = false }: CodeProps) {
  const isBeside = !file && !text.includes('\n') && (isWhole || text.length <= BESIDE_LENGTH);
  const code = useRef<HTMLPreElement>(null);
  useEffect(() => colour(code.current, text), [text]);
  return (
    <div
      className={cx('min-w-0 rounded-xl border border-line bg-sunken', isBeside && 'flex flex-row-reverse items-start')}
    >
      {isBeside ? (
        <div className="shrink-0 p-1.5 print:hidden">
          <Copy text={text} />
        </div>
      ) : (
        <div className="flex items-center justify-between gap-3 border-b border-line py-1.5 pr-1.5 pl-4 text-xs text-faint">
          {file ? <code className="truncate">{file}</code> : <span>{languageOf(text)?.title ?? 'Text'}</span>}
          <Copy text={text} />
        </div>
      )}
      <section
        tabIndex={0}
        aria-label={label}
        className={cx(
          'overflow-auto py-3 pl-4',
          isBeside ? 'min-h-11 min-w-0 flex-1 rounded-xl pr-2.5' : 'rounded-b-xl pr-4',
          isWhole ? 'goes-on' : 'max-h-112',
        )}
      >
        <pre ref={code} className={cx('font-mono text-[0.8125rem]', !isWhole && 'wrap-anywhere whitespace-pre-wrap')}>
          {text}
        </pre>
      </section>
    </div>
  );
}

/** Downloads a text as a file. */
export function saveFile(name: string, text: string | Uint8Array, type = 'application/json'): void {
  const url = URL.createObjectURL(new Blob([text as BlobPart], { type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}

const STATUS_TONES: Record<string, Tone> = {
  active: 'good',
  completed: 'good',
  ok: 'good',
  running: 'accent',
  pending: 'accent',
  paused: 'warn',
  degraded: 'warn',
  disputed: 'warn',
  open: 'warn',
  delisted: 'plain',
  failed: 'bad',
};

export function Status({ value, children }: { value: string; children?: ReactNode }) {
  return <Badge tone={own(STATUS_TONES, value) ?? 'plain'}>{children || asSentence(value)}</Badge>;
}

/** Words of the API as a sentence begins: `not_known` as `Not known`. */
export const asSentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1).replaceAll('_', ' ')}`;
