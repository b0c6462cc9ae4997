/** An agent's answer, in its most readable form: pictures, a table, a tree, Markdown, or text. */
import { Tabs } from 'radix-ui';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { SEGMENT, SEGMENTS } from '../tabRow.ts';
import { TextBox } from '../textBox.tsx';
import { Button, buttonStyle, Note, Skeleton } from '../ui.tsx';
import { Code, Copy, formatCount, saveFile } from '../values.tsx';
import { type Form, type Picture, type Rows, readResult, toCsv, toTabs } from './read.ts';

const Markdown = lazy(() => import('../markdown.tsx'));
const ResultTable = lazy(() => import('./table.tsx'));
const Tree = lazy(() => import('./tree.tsx'));

/** Visible part of a long text; copying and downloading use all of it. */
const SHOWN_LENGTH = 100_000;
/** A text with more characters or lines is folded. */
const FOLDED_LENGTH = 4_000;
const FOLDED_LINES = 40;

const NAMES: Record<Form, string> = {
  pictures: 'Picture',
  table: 'Table',
  json: 'JSON',
  markdown: 'Formatted',
  text: 'Exact text',
};

interface ResultProps {
  text: string;
  name: string;
  /** Begins with the exact text, for a reader who checks it. */
  isExact?: boolean;
}

export default function Result({ text, name, isExact = false }: ResultProps) {
  const { forms, pictures, table, json } = useMemo(() => readResult(text), [text]);
  const [form, setForm] = useState<Form>(isExact ? 'text' : forms[0]!);
  if (text.trim() === '' && !isExact) return <EmptyResult />;
  const isLong = text.length > SHOWN_LENGTH;
  const shown = isLong ? text.slice(0, SHOWN_LENGTH) : text;
  const views: Record<Form, ReactNode> = {
    pictures: <Pictures pictures={pictures} name={name} />,
    table: table && <ResultTable table={table} />,
    json: json && <Tree json={json} />,
    markdown: (
      <Fold text={shown}>
        <Markdown text={shown} />
      </Fold>
    ),
    text: (
      <Fold text={shown}>
        <TextBox label="Result" text={shown} isExact={forms.length > 1} isWhole />
      </Fold>
    ),
  };
  return (
    <Tabs.Root value={form} onValueChange={(value) => setForm(value as Form)}>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2 print:hidden">
        <Tabs.List aria-label="Form of the result" className={forms.length > 1 ? SEGMENTS : 'sr-only'}>
          {forms.map((one) => (
            <Tabs.Trigger key={one} value={one} className={SEGMENT}>
              {forms.length === 1 ? 'Text' : NAMES[one]}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <div className="ml-auto flex gap-2">
          {form === 'table' && table ? (
            <TableButtons table={table} name={name} />
          ) : (
            <>
              <Copy text={text} />
              <Button
                small
                onClick={() => saveFile(`${name}.${json === null ? 'txt' : 'json'}`, text, 'application/octet-stream')}
              >
                Download
              </Button>
            </>
          )}
        </div>
      </div>
      {forms.map((one) => (
        <Tabs.Content key={one} value={one}>
          <Suspense fallback={<Skeleton className="h-40" />}>{views[one]}</Suspense>
        </Tabs.Content>
      ))}
      {isLong && (form === 'text' || form === 'markdown') && (
        <p className="mt-3 text-sm text-faint">
          Only the beginning is shown. Copy or download the result to get all {formatCount(text.length)} characters.
        </p>
      )}
    </Tabs.Root>
  );
}

/** A table as spreadsheets take it; the other forms give the exact text. */
function TableButtons({ table, name }: { table: Rows; name: string }) {
  const tabs = useMemo(() => toTabs(table), [table]);
  return (
    <>
      <Copy text={tabs} label="Copy table" />
      <Button small onClick={() => saveFile(`${name}.csv`, toCsv(table), 'text/csv')}>
        Save as CSV
      </Button>
    </>
  );
}

function EmptyResult() {
  return (
    <Note tone="warn" title="The result is empty">
      The creator signed an empty text, so the call counts as done. Try again with a clearer task, or dispute the call
      if this is not what the agent promises.
    </Note>
  );
}

function Pictures({ pictures, name }: { pictures: Picture[]; name: string }) {
  return (
    <ul className="grid gap-4">
      {pictures.map(({ name: field, url }, index) => (
        <li key={index} className="grid justify-items-start gap-2">
          <img
            src={url}
            alt={field ? `The agent’s picture “${field}”` : 'The agent’s picture'}
            className="max-h-128 max-w-full rounded-lg border border-line bg-sunken object-contain"
          />
          <a
            href={url}
            download={`${name}${field ? `-${field.replace(/\W+/g, '-')}` : ''}.${/^data:image\/(\w+)/.exec(url)![1]}`}
            className={buttonStyle('plain', true)}
          >
            Save picture
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Shows the beginning of a long text, and a button for the rest. */
function Fold({ text, children }: { text: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const lines = useMemo(() => text.split('\n').length, [text]);
  if (isOpen || (text.length <= FOLDED_LENGTH && lines <= FOLDED_LINES)) return children;
  return (
    <div className="grid justify-items-start gap-3">
      {/* `inert`, so that the keyboard does not reach what nobody sees. */}
      <div inert className="max-h-96 w-full overflow-hidden mask-b-from-70% print:max-h-none print:mask-none">
        {children}
      </div>
      <Button small className="print:hidden" onClick={() => setOpen(true)}>
        Show all of it
      </Button>
    </div>
  );
}

/** The steps that an agent reports. A step may be any value. */
export function Steps({ steps }: { steps: readonly unknown[] }) {
  return (
    <ol className="grid gap-3">
      {steps.map((step, index) => (
        <li key={index} className="grid grid-cols-[1.75rem_1fr] items-baseline text-sm">
          <span className="text-faint tabular-nums">{index + 1}.</span>
          {typeof step === 'string' ? (
            <p className="min-w-0 whitespace-pre-wrap">{step}</p>
          ) : (
            <div className="min-w-0">
              <Code text={JSON.stringify(step, null, 2)} label={`Step ${index + 1}`} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
