/** Evidence for a dispute, written here or chosen as a file. It is hashed in the browser. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { useMemo, useState } from 'react';
import { EVIDENCE_TYPES, type EvidenceType, MAX_EVIDENCE_BYTES } from '../../../sdk/wire/procedures.ts';
import { type Reading, read } from '../../parts/reading.ts';
import { Segments } from '../../parts/segments.tsx';
import { Field, TextArea } from '../../parts/ui.tsx';

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

const KINDS = [
  ['text', 'Write it'],
  ['file', 'Choose a file'],
] as const;

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
      <Segments label="Evidence" choices={KINDS} chosen={kind} onChoose={(one) => setKind(one)} />
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

export interface Evidence {
  bytes: Uint8Array;
  mediaType: EvidenceType;
  hash: Uint8Array;
  hashHex: string;
}

const KIB = 1_024;
export const MAX_KIB = MAX_EVIDENCE_BYTES / KIB;
/** Types offered for a file. A file of unknown type is sent as bytes; files of other types are refused. */
export const ACCEPTED = EVIDENCE_TYPES.filter((type) => type !== 'application/octet-stream').join(',');

/** Throws with a message if it is empty or too large. */
function evidenceOf(bytes: Uint8Array, mediaType: string): Evidence {
  requireSize(bytes.length);
  const hash = sha256(bytes);
  const known = EVIDENCE_TYPES.find((type) => type === mediaType);
  return { bytes, mediaType: known ?? 'application/octet-stream', hash, hashHex: bytesToHex(hash) };
}

function requireSize(length: number): void {
  if (length === 0) throw new Error('It is empty.');
  if (length <= MAX_EVIDENCE_BYTES) return;
  const kib = Math.ceil(length / KIB);
  throw new Error(`It has ${kib} KiB, but the limit is ${MAX_KIB} KiB. Shorten it, or choose a smaller file.`);
}

/** Reads a file. Throws with a message, without reading, if its type is refused or its size is wrong. */
export async function readEvidenceFile(file: File): Promise<Evidence> {
  if (file.type !== '' && !EVIDENCE_TYPES.some((type) => type === file.type)) {
    throw new Error(`Files of the type ${file.type} are not accepted. Choose text, PDF, PNG, JPEG or JSON.`);
  }
  return readAnyFile(file);
}

/** Also a type that is refused for a new dispute: the hash on the chain may be of such a file. */
export async function readAnyFile(file: File): Promise<Evidence> {
  requireSize(file.size);
  return evidenceOf(new Uint8Array(await file.arrayBuffer()), file.type);
}

/** Bytes per call of `fromCharCode`, because the number of arguments is limited. */
const PIECE = 0x2000;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
