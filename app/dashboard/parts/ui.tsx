/** Basic elements: buttons, cards, badges, fields, notes. Styles are only here and in style.css. */
import { type ComponentProps, type ReactNode, useId } from 'react';

export function cx(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

const BUTTONS = {
  primary: 'border-transparent bg-fill text-white hover:opacity-90',
  // With its own colour: inside a grey text it looked disabled.
  plain: 'border-strong/45 bg-raised text-ink hover:bg-sunken',
  quiet: 'border-transparent hover:bg-sunken',
  danger: 'border-bad/45 bg-raised text-bad hover:bg-bad-soft',
};

export type ButtonKind = keyof typeof BUTTONS;

/** The style of a button, also for links that look like buttons. */
export function buttonStyle(kind: ButtonKind = 'plain', small = false): string {
  return cx(
    'inline-flex items-center justify-center gap-2 rounded-lg border font-medium whitespace-nowrap transition-colors print:hidden',
    small ? 'min-h-8 px-2.5 text-sm' : 'min-h-10 px-4 text-sm',
    BUTTONS[kind],
    // The same grey for every kind: a pale colour looks like an action.
    'unavailable:border-line unavailable:bg-sunken unavailable:text-faint unavailable:opacity-100 unavailable:cursor-not-allowed',
  );
}

/** The style of a link in a text, also of a button that reads like one. */
export const LINK = 'text-accent underline underline-offset-2';

/** The style of a link in a figure, a table or a title: its line is paler than its text. */
export const QUIET_LINK = 'underline decoration-strong/60 underline-offset-4 hover:decoration-current';

interface ButtonProps extends ComponentProps<'button'> {
  kind?: ButtonKind;
  small?: boolean;
  /** True to show activity and ignore clicks. */
  busy?: boolean;
}

export function Button({ kind, small, busy, children, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={cx(buttonStyle(kind, small), className)}
      // Not `disabled` while it is busy, because a disabled button loses the focus.
      aria-disabled={busy || undefined}
      aria-busy={busy}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy && <Spinner />}
      {children}
    </button>
  );
}

export function Spinner({ label }: { label?: string }) {
  return (
    <span role={label ? 'status' : undefined} className="inline-flex items-center gap-2 text-faint">
      <svg viewBox="0 0 16 16" className="size-4 animate-spin" aria-hidden="true">
        <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeOpacity=".25" strokeWidth="2" />
        <path d="M14 8a6 6 0 0 0-6-6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
      </svg>
      {label}
    </span>
  );
}

export function Card({ className, ...rest }: ComponentProps<'section'>) {
  return <section className={cx('rounded-xl border border-line bg-raised p-4 sm:p-5', className)} {...rest} />;
}

/** The head of a view: its title, one sentence about it, and its actions. */
export function PageHead({ title, about, children }: { title: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
      <div className="max-w-2xl min-w-0">
        <h1 className="text-2xl font-semibold">{title}</h1>
        {about && <p className="mt-1.5 text-faint">{about}</p>}
      </div>
      {children && <div className="flex flex-wrap gap-2 max-sm:w-full max-sm:*:grow">{children}</div>}
    </header>
  );
}

const TONES = {
  plain: 'bg-chip text-on-chip',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  test: 'bg-test-soft text-test',
};

export type Tone = keyof typeof TONES;

export function Badge({ tone = 'plain', className, ...rest }: ComponentProps<'span'> & { tone?: Tone }) {
  return (
    <span
      className={cx(
        'inline-flex items-center gap-1 rounded-md px-2 py-0.5 text-xs font-medium',
        TONES[tone],
        className,
      )}
      {...rest}
    />
  );
}

/** Something to read before continuing. */
export function Note({ tone = 'plain', title, children }: { tone?: Tone; title?: ReactNode; children?: ReactNode }) {
  const hue = tone === 'plain' ? 'border-transparent bg-sunken' : cx('note border-current/25', TONES[tone]);
  return (
    <div className={cx('rounded-xl border px-4 py-3 text-sm sm:px-5', hue)} role={tone === 'bad' ? 'alert' : undefined}>
      {title && <p className="font-semibold">{title}</p>}
      {children && <div className={cx('not-first:mt-1', tone === 'plain' ? 'text-faint' : 'text-ink')}>{children}</div>}
    </div>
  );
}

/** The words of a sentence that count most. */
export const Strong = ({ children }: { children: ReactNode }) => <strong className="font-semibold">{children}</strong>;

interface EmptyProps {
  title: string;
  /** `h1`: in place of a view. */
  as?: 'p' | 'h1';
  children?: ReactNode;
}

/** An empty list: the reason, and what to do. */
export function Empty({ title, as: Title = 'p', children }: EmptyProps) {
  return (
    <div className="rounded-xl border border-line bg-raised px-6 py-7 text-center sm:py-14">
      <Title className="font-medium">{title}</Title>
      {children && <div className="mx-auto mt-2 max-w-md text-sm text-faint">{children}</div>}
    </div>
  );
}

/** The style of an input, a text area and a select. */
export const CONTROL =
  'w-full rounded-lg border border-strong bg-raised px-3 min-h-10 text-sm aria-invalid:border-bad disabled:opacity-60';

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** The fault of the value. */
  error?: string | null;
}

/** Beside the label, whose text stays the name. */
export const Required = () => (
  <span className="text-xs text-faint" aria-hidden="true">
    required
  </span>
);

/** A label, its control, a hint and its fault, linked for screen readers. */
export function Field({
  label,
  hint,
  error,
  isRequired,
  children,
}: FieldProps & {
  isRequired?: boolean;
  children: (props: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}) {
  const id = useId();
  const name = (
    <label htmlFor={id} className="text-sm font-medium">
      {label}
    </label>
  );
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="grid grid-cols-1 gap-1.5">
      {isRequired ? (
        <span className="flex flex-wrap items-baseline gap-x-2">
          {name} <Required />
        </span>
      ) : (
        name
      )}
      {children({ id, ...(about && { 'aria-describedby': about }), ...(error && { 'aria-invalid': true as const }) })}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-faint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-sm whitespace-pre-line text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

export function Input({ label, hint, error, className, ...rest }: FieldProps & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} error={error ?? null}>
      {(props) => <input className={cx(CONTROL, className)} {...rest} {...props} />}
    </Field>
  );
}

export function TextArea({ label, hint, error, className, ...rest }: FieldProps & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hint={hint} error={error ?? null} isRequired={rest['aria-required'] === true}>
      {(props) => <textarea className={cx(CONTROL, 'min-h-24 py-2', className)} {...rest} {...props} />}
    </Field>
  );
}

export function Select({ label, hint, error, className, ...rest }: FieldProps & ComponentProps<'select'>) {
  return (
    <Field label={label} hint={hint} error={error ?? null}>
      {(props) => <select className={cx(CONTROL, 'pr-8', className)} {...rest} {...props} />}
    </Field>
  );
}

export function Checkbox({ label, hint, className, ...rest }: FieldProps & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className={cx('flex items-start gap-2.5', className)}>
      <input id={id} type="checkbox" className="mt-0.5 size-4.5 shrink-0 accent-accent" {...rest} />
      <label htmlFor={id} className="text-sm">
        {label}
        {hint && <span className="block text-faint">{hint}</span>}
      </label>
    </div>
  );
}

/** A part of a card below its small title. */
export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="min-w-0">
    <h3 className="mb-1.5 text-sm font-medium text-faint">{title}</h3>
    {children}
  </div>
);

type FactRow = readonly [label: ReactNode, value: ReactNode];

/** Names and values, stacked on a phone. */
export function Facts({ rows }: { rows: readonly (FactRow | null | undefined | false | '')[] }) {
  return (
    <dl className="grid gap-x-6 gap-y-3 text-sm sm:grid-cols-[minmax(8rem,max-content)_1fr]">
      {rows.map(
        (row, index) =>
          row && (
            <div key={index} className="contents">
              <dt className="text-faint max-sm:-mb-2.5">{row[0]}</dt>
              <dd className="min-w-0">{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Characters of an amount that fit half of a phone's width in the large size. */
const LARGE_LENGTH = 12;

/** An amount in one line with its currency, which is smaller. */
export function withUnit(value: string): ReactNode {
  const [, number, unit] = /^([\d.,]+)( USDC| SOL)$/.exec(value) ?? [];
  if (!number) return value;
  return (
    <span className={cx('whitespace-nowrap', value.length > LARGE_LENGTH ? 'max-sm:text-base' : 'max-sm:text-xl')}>
      {number}
      <span className="text-sm font-medium">{unit}</span>
    </span>
  );
}

/** A large number with its name. In a grid, its three lines are level with those of its neighbours. */
export function Figure({ label, value, about }: { label: ReactNode; value: ReactNode; about?: ReactNode }) {
  return (
    <Card className="row-span-3 grid grid-rows-subgrid content-start gap-y-1">
      <p className="text-sm text-faint">{label}</p>
      <p className="text-xl font-semibold tabular-nums sm:text-2xl">
        {typeof value === 'string' ? withUnit(value) : value}
      </p>
      {about && <p className="text-sm text-faint empty:hidden">{about}</p>}
    </Card>
  );
}

/** Grey bars of the size of the loading content, so that nothing jumps when it arrives. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden="true" className={cx('animate-pulse rounded-lg bg-sunken', className)} />;
}
