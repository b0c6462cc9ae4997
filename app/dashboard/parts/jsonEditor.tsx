/** An editor for JSON that shows the line of a fault. Large, so views load it on use. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useId, useRef, useState } from 'react';
import { styleNonce } from '../service.ts';
import { cx } from './ui.tsx';

/** A fault of the value: names and indices from the root, joined by dots; empty for the whole value. */
export interface JsonFault {
  path: string;
  message: string;
}

interface JsonEditorProps {
  label: string;
  hint: string;
  value: string;
  onChange(text: string): void;
  /** Returns the faults of a value that is JSON. */
  check(value: unknown): JsonFault[];
}

interface Finding {
  line: number;
  from: number;
  message: string;
}

const LINT_MS = 250;
/** Maximum number of listed faults: nobody reads a longer list. */
const MAX_SHOWN = 8;

const THEME = EditorView.theme({
  '&': {
    fontSize: '0.8125rem',
    backgroundColor: 'var(--color-raised)',
    color: 'var(--color-ink)',
    borderRadius: '0.5rem',
  },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '2px' },
  '.cm-scroller': { fontFamily: '"JetBrains Mono Variable", ui-monospace, monospace', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--color-ink)', padding: '0.75rem 0' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--color-faint)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'var(--color-accent-soft)',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--color-accent-soft) !important' },
  '.cm-tooltip': {
    backgroundColor: 'var(--color-raised)',
    color: 'var(--color-ink)',
    border: '1px solid var(--color-line)',
  },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--color-accent)' },
  { tag: tags.string, color: 'var(--color-good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--color-warn)' },
]);

export default function JsonEditor({ label, hint, value, onChange, check }: JsonEditorProps) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const props = useRef({ onChange, check });
  const [findings, setFindings] = useState<Finding[]>([]);
  const first = useRef({ value, id });
  props.current = { onChange, check };

  useEffect(() => {
    const { value, id } = first.current;
    const editor = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(styleNonce()),
          lineNumbers(),
          history(),
          bracketMatching(),
          indentOnInput(),
          json(),
          syntaxHighlighting(COLOURS),
          THEME,
          EditorView.lineWrapping,
          EditorState.tabSize.of(2),
          // Tab leaves the editor, as in every other field.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({
            'aria-labelledby': `${id}-label`,
            'aria-describedby': `${id}-hint`,
            // An editable element is focusable anyway; accessibility checkers of the markup need the attribute.
            tabindex: '0',
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) props.current.onChange(update.state.doc.toString());
          }),
          linter(
            (current) => {
              const found = findFaults(current, props.current.check);
              setFindings(
                found.map(({ from, message }) => ({ from, message, line: current.state.doc.lineAt(from).number })),
              );
              return found;
            },
            { delay: LINT_MS },
          ),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  // The value was set from outside, for example by the format button.
  useEffect(() => {
    const current = view.current;
    if (!current || current.state.doc.toString() === value) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);

  function goTo(from: number) {
    view.current?.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    view.current?.focus();
  }

  return (
    <div className="grid gap-1.5">
      <span id={`${id}-label`} className="text-sm font-medium">
        {label}
      </span>
      <div
        ref={host}
        className={cx(
          'max-h-112 min-h-40 overflow-auto rounded-lg border bg-raised',
          findings.length > 0 ? 'border-bad' : 'border-strong',
        )}
      />
      <p id={`${id}-hint`} className="text-sm text-faint">
        {hint}
      </p>
      <ul className="grid gap-0.5 text-sm text-bad" aria-live="polite" aria-label={`What is wrong with ${label}`}>
        {findings.slice(0, MAX_SHOWN).map(({ line, from, message }, index) => (
          <li key={index}>
            <button type="button" className="rounded text-left hover:underline" onClick={() => goTo(from)}>
              Line {line}: {message}
            </button>
          </li>
        ))}
        {findings.length > MAX_SHOWN && <li>and {findings.length - MAX_SHOWN} more</li>}
      </ul>
    </div>
  );
}

function findFaults(view: EditorView, check: JsonEditorProps['check']): Diagnostic[] {
  const text = view.state.doc.toString();
  if (text.trim() === '') return [{ from: 0, to: 0, severity: 'error', message: 'write a JSON value' }];
  const broken = jsonParseLinter()(view);
  if (broken.length > 0) return broken;
  const value: unknown = JSON.parse(text);
  return check(value).map(({ path, message }) => {
    const { from, to } = findPlace(view, value, path);
    return { from, to, severity: 'error', message: path === '' ? message : `${path} ${message}` };
  });
}

/** The position of a path in the text, or of its deepest existing part. Names may contain dots. */
function findPlace(view: EditorView, root: unknown, path: string): { from: number; to: number } {
  const { state } = view;
  let node = syntaxTree(state).topNode.firstChild;
  let place = { from: 0, to: Math.min(1, state.doc.length) };
  let value = root;
  let rest = path;
  while (node && rest !== '' && typeof value === 'object' && value !== null) {
    const isOn = (key: string) => rest === key || rest.startsWith(`${key}.`);
    const name = Object.keys(value)
      .filter(isOn)
      .sort((one, other) => other.length - one.length)[0];
    if (name === undefined) break;
    const children = node.name === 'Array' ? elementsOf(node) : node.getChildren('Property');
    const found = children.find((child, index) =>
      node?.name === 'Array'
        ? String(index) === name
        : JSON.parse(state.sliceDoc(child.firstChild!.from, child.firstChild!.to)) === name,
    );
    if (!found) break;
    place = { from: found.from, to: found.name === 'Property' ? found.firstChild!.to : found.to };
    node = found.name === 'Property' ? found.lastChild : found;
    value = (value as Record<string, unknown>)[name];
    rest = rest.slice(name.length + 1);
  }
  return place;
}

type Node = NonNullable<ReturnType<typeof syntaxTree>['topNode']['firstChild']>;

function elementsOf(array: Node): Node[] {
  const found: Node[] = [];
  for (let child = array.firstChild; child; child = child.nextSibling) {
    if (!['[', ']', ',', '⚠'].includes(child.name)) found.push(child);
  }
  return found;
}
