/** Evidence for a dispute, written here or chosen as a file. It is hashed in the browser. */
import { useMemo, useState } from 'react';
import { FileField } from '../../parts/fileField.tsx';
import { cx, TextArea } from '../../parts/ui.tsx';
import { type Evidence, evidenceOf } from './evidence.ts';

type Entered = { evidence: Evidence | null; error: string | null };

/** What is entered, and its fault. `read` reads a chosen file, and throws with a message. */
export function useEvidence(read: (file: File) => Promise<Evidence>) {
  const [kind, setKind] = useState<'text' | 'file'>('text');
  const [text, setText] = useState('');
  const [file, setFile] = useState<Entered | null>(null);
  const written = useMemo(() => writtenEvidence(text), [text]);
  const { evidence, error } = (kind === 'text' ? written : file) ?? { evidence: null, error: null };
  return {
    kind,
    setKind,
    text,
    setText,
    choose: async (chosen: File | undefined) => setFile(chosen ? await fileEvidence(chosen, read) : null),
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
        <FileField label="Evidence file" hint={fileHint} error={error} accept={accept} onFile={choose} />
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

function writtenEvidence(text: string): Entered {
  try {
    return { evidence: evidenceOf(new TextEncoder().encode(text.trim()), 'text/plain'), error: null };
  } catch (error) {
    return { evidence: null, error: (error as Error).message };
  }
}

async function fileEvidence(file: File, read: (file: File) => Promise<Evidence>): Promise<Entered> {
  try {
    return { evidence: await read(file), error: null };
  } catch (error) {
    return { evidence: null, error: (error as Error).message };
  }
}
