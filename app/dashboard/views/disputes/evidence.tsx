/** The caller's evidence in a dispute, or its upload: text and images are shown, everything else is only offered as a file. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { DisputeSummary, EvidenceType } from '../../../sdk/wire/disputeProcedures.ts';
import { TextBox } from '../../parts/textBox.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Button, Facts, Note } from '../../parts/ui.tsx';
import { formatCount, Id, saveFile, Time } from '../../parts/values.tsx';
import { call, explain } from '../../service.ts';
import { fromBase64 } from '../../wallet/accounts.ts';
import { EvidenceFields, MAX_KIB, readAnyFile, toBase64, useEvidence } from '../executions/evidenceFields.tsx';
import type { Reader } from './outcomes.tsx';

const FILE_ENDINGS: Record<EvidenceType, string> = {
  'text/plain': 'txt',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'application/json': 'json',
  'application/octet-stream': 'bin',
};

const SHOWN_AS_TEXT: readonly EvidenceType[] = ['text/plain', 'application/json'];
const SHOWN_AS_IMAGE: readonly EvidenceType[] = ['image/png', 'image/jpeg'];

export function Evidence({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  const { has_evidence, evidence_hash, evidence_uri } = dispute;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {has_evidence && <Kept dispute={dispute} />}
      {(!has_evidence || evidence_uri) && (
        <Facts
          rows={[
            !has_evidence && ['Hash on the chain', <Id key="hash" value={evidence_hash} />],
            evidence_uri ? ['Location given by the caller', <span key="uri">{evidence_uri}</span>] : null,
          ]}
        />
      )}
      {!has_evidence && <Missing dispute={dispute} reader={reader} />}
    </div>
  );
}

function Missing({ dispute, reader }: { dispute: DisputeSummary; reader: Reader }) {
  const isOpen = dispute.outcome === 'open';
  if (isOpen && reader === 'caller') return <UploadEvidence dispute={dispute} />;
  return (
    <Note tone={isOpen ? 'warn' : 'plain'} title="The marketplace does not have the evidence">
      Only its hash is on the chain.
      {isOpen && ' The caller can still upload the file.'}
      {isOpen && reader === 'admin' && ' If it does not come, decide on what was asked and answered.'}
    </Note>
  );
}

function Kept({ dispute: { execution_id, evidence_hash } }: { dispute: DisputeSummary }) {
  const query = useQuery({
    queryKey: ['disputes.evidence', execution_id],
    queryFn: async () => {
      const { content, media_type } = await call('disputes.evidence', { execution_id });
      const bytes = fromBase64(content);
      return { content, media_type, bytes, hash: bytesToHex(sha256(bytes)) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!query.data) return <Unread query={query} what="The evidence" className="h-40" />;
  const { content, media_type, bytes, hash } = query.data;
  if (hash !== evidence_hash) {
    return (
      <Note tone="bad" title="This file is not the evidence that the caller committed to">
        The chain has the SHA-256 {evidence_hash}, the stored file {hash}. It is not shown, and proves nothing.
      </Note>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      {SHOWN_AS_TEXT.includes(media_type) && <TextBox text={new TextDecoder().decode(bytes)} label="Evidence" />}
      {SHOWN_AS_IMAGE.includes(media_type) && (
        <img
          src={`data:${media_type};base64,${content}`}
          alt="The caller’s evidence"
          className="max-h-128 max-w-full rounded-lg border border-line bg-sunken object-contain"
        />
      )}
      {!SHOWN_AS_TEXT.includes(media_type) && !SHOWN_AS_IMAGE.includes(media_type) && (
        <p className="text-sm text-faint">
          This type of file cannot be shown here. Open the download with care, because a stranger made it.
        </p>
      )}
      <div className="flex flex-wrap items-center justify-between gap-3 text-sm text-faint">
        <p>
          {media_type}, {formatCount(bytes.length)} bytes · same hash as on the chain: <Id value={evidence_hash} />
        </p>
        <Button
          small
          // With the type of plain bytes, so that no browser opens the file automatically.
          onClick={() =>
            saveFile(`evidence-${execution_id}.${FILE_ENDINGS[media_type]}`, bytes, 'application/octet-stream')
          }
        >
          Download
        </Button>
      </div>
    </div>
  );
}

const HINT = `At most ${MAX_KIB} KiB. The admin and the creator can read it.`;

function UploadEvidence({ dispute }: { dispute: DisputeSummary }) {
  const { execution_id, evidence_hash, answer_due_at } = dispute;
  const queries = useQueryClient();
  const notify = useNotify();
  const entered = useEvidence(readAnyFile);
  const { kind, evidence } = entered;
  const upload = useMutation({
    async mutationFn({ bytes, mediaType, hashHex }: NonNullable<typeof evidence>) {
      if (hashHex !== evidence_hash) throw new Error(`This is another ${kind}: its SHA-256 is ${hashHex}.`);
      await call('disputes.putEvidence', { execution_id, content: toBase64(bytes), media_type: mediaType });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['disputes.case', execution_id] });
      notify('Your evidence is uploaded', 'The admin and the creator can read it.');
    },
  });
  // A refusal is of the evidence that was sent, not of what was entered since.
  const refusal = upload.error && upload.variables === evidence ? explain(upload.error) : null;
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (evidence) upload.mutate(evidence);
      }}
    >
      <Note tone="warn" title="The admin cannot read your evidence">
        The program or command line that opened the dispute sent only its hash. Upload it before the decision, which is
        due by <Time at={answer_due_at} />. Otherwise the decision is made without it. Paste exactly the text you wrote,
        or choose the same file: it is accepted only if it is unchanged.
      </Note>
      <EvidenceFields entered={entered} label="Your text" textHint={HINT} fileHint={HINT} refusal={refusal} />
      <Button
        type="submit"
        kind="primary"
        className="justify-self-start"
        busy={upload.isPending}
        disabled={evidence === null}
      >
        Upload
      </Button>
    </form>
  );
}
