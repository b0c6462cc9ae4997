/** Evidence for a dispute, written here or chosen as a file. It is hashed in the browser. */
import { useMemo, useState } from 'react';
import { type Reading, read } from '../../parts/reading.ts';
import { cx, Field, TextArea } from '../../parts/ui.tsx';
import { type Evidence, evidenceOf } from './evidence.ts';

/** What is entered, and its fault. `readFile` reads a chosen file, and throws with a message. */
export function useEvidence(readFile: (file: File) => Promise<Evidence>) {
  const [kind, setKind] = useState<'text' | 'file'>('text');
  const [text, setText] = useState('');
  const [file, setFile] = useState<Reading<Evidence> | null>(null);
  const written = useMemo(() => read(() => evidenceOf(new TextEncoder().encode(text.trim()), 'text/plain')), [text]);
  const { value: evidence = null, error = null } = (kind === 'text' ? written : file) ?? {};
  return {
    kind,
    setKind,
    text,
    setText,
    async choose(chosen: File | undefined) {
      const failed = (error: Error): Reading<Evidence> => ({ value: undefined, error: error.message });
      setFile(chosen ? await readFile(chosen).then((value) => ({ value, error: null }), failed) : null);
    },
    evidence,
    error: kind === 'text' && text === '' ? null : error,
    isBegun: text !== '' || file !== null,
    clear() {
      setText('');
      setFile(null);
    },
  };
}

interface EvidenceFieldsProps {
  entered: ReturnType<typeof useEvidence>;
  label: string;
  textHint: string;
  fileHint: string;
  /** Types offered for a file. */
  accept?: string;
  /** Why it was refused. */
  refusal?: string | null;
}

export function EvidenceFields({ entered, label, textHint, fileHint, accept, refusal = null }: EvidenceFieldsProps) {
  const { kind, setKind, text, setText, choose } = entered;
  const error = entered.error ?? refusal;
  return (
    <>
      <fieldset className="flex gap-1 rounded-lg bg-sunken p-1">
        <legend className="sr-only">Evidence</legend>
        <Choice label="Write it" checked={kind === 'text'} onChoose={() => setKind('text')} />
        <Choice label="Choose a file" checked={kind === 'file'} onChoose={() => setKind('file')} />
      </fieldset>
      {kind === 'text' ? (
        <TextArea
          label={label}
          hint={textHint}
          rows={3}
          value={text}
          onChange={(event) => setText(event.target.value)}
          error={error}
        />
      ) : (
        <Field label="Evidence file" hint={fileHint} error={error}>
          {(props) => (
            <input
              type="file"
              accept={accept}
              className="w-full text-sm file:mr-3 file:min-h-10 file:cursor-pointer file:rounded-lg file:border file:border-solid file:border-line file:bg-raised file:px-4 file:font-medium"
              onChange={({ target }) => void choose(target.files?.[0])}
              {...props}
            />
          )}
        </Field>
      )}
    </>
  );
}

function Choice({ label, checked, onChoose }: { label: string; checked: boolean; onChoose(): void }) {
  return (
    <label
      className={cx(
        'flex min-h-8 flex-1 cursor-pointer items-center justify-center rounded-md px-3 text-sm font-medium',
        'has-focus-visible:outline-2 has-focus-visible:outline-accent',
        checked ? 'bg-chosen' : 'text-faint',
      )}
    >
      <input type="radio" name="evidence" className="sr-only" checked={checked} onChange={onChoose} />
      {label}
    </label>
  );
}
