/** An agent's answer as text, JSON or Markdown. The text is exact; the others are easier to read. */
import { Tabs } from 'radix-ui';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Button, buttonStyle, cx, Skeleton } from './ui.tsx';
import { Code, Copy, saveFile } from './values.tsx';

const Markdown = lazy(() => import('./markdown.tsx'));

/** Visible part of a long text; copying and downloading use all of it. */
const SHOWN_LENGTH = 100_000;
/** Signs of Markdown: headings, lists, emphasis, tables, links, code. */
const MARKDOWN = /^#{1,6} \S|^[-*+] \S|^\d+\. \S|^>\s|\*\*\S|^\|.+\||\]\(https?:|```/m;

type Form = 'text' | 'json' | 'markdown';
const NAMES: Record<Form, string> = { text: 'Text', json: 'JSON', markdown: 'Markdown' };

export function Result({ text, name }: { text: string; name: string }) {
  const json = useMemo(() => toJson(text), [text]);
  const likely: Form = json !== null ? 'json' : MARKDOWN.test(text) ? 'markdown' : 'text';
  const [form, setForm] = useState<Form>(likely);
  const forms: Form[] =
    json !== null ? ['json', 'text'] : likely === 'markdown' ? ['markdown', 'text'] : ['text', 'markdown'];
  const isLong = text.length > SHOWN_LENGTH;
  const shown = isLong ? text.slice(0, SHOWN_LENGTH) : text;
  return (
    <Tabs.Root value={form} onValueChange={(value) => setForm(value as Form)}>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Tabs.List aria-label="Format of the result" className="flex gap-1">
          {forms.map((one) => (
            <Tabs.Trigger
              key={one}
              value={one}
              className={cx(
                buttonStyle('quiet', true),
                'text-faint data-[state=active]:bg-sunken data-[state=active]:text-ink',
              )}
            >
              {NAMES[one]}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <div className="flex gap-2">
          <Copy text={text} />
          <Button
            small
            onClick={() => saveFile(`${name}.${json === null ? 'txt' : 'json'}`, text, 'application/octet-stream')}
          >
            Download
          </Button>
        </div>
      </div>
      <Tabs.Content value="text">
        <Plain text={shown} />
      </Tabs.Content>
      <Tabs.Content value="json">{json !== null && <Plain text={json.slice(0, SHOWN_LENGTH)} />}</Tabs.Content>
      <Tabs.Content value="markdown">
        <Suspense fallback={<Skeleton className="h-40" />}>
          <Markdown text={shown} />
        </Suspense>
      </Tabs.Content>
      {isLong && (
        <p className="mt-3 text-sm text-faint">
          Only the beginning is shown. Copy or download the result to get all {text.length.toLocaleString('en-US')}{' '}
          characters.
        </p>
      )}
    </Tabs.Root>
  );
}

function Plain({ text }: { text: string }) {
  return (
    <section tabIndex={0} aria-label="Result" className="max-h-128 overflow-auto rounded-lg bg-sunken p-4">
      <pre className="font-mono text-[0.8125rem] whitespace-pre-wrap">{text}</pre>
    </section>
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

/** The text as indented JSON; null if it is not JSON, or only a single value. */
function toJson(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : null;
  } catch {
    return null;
  }
}
