/** The upload of evidence whose hash is on the chain, but which the marketplace does not have. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { useNotify } from '../../parts/toasts.tsx';
import { Button, Note } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { call, explain } from '../../service.ts';
import { type Evidence, MAX_KIB, readAnyFile, toBase64 } from '../executions/evidence.ts';
import { EvidenceFields, useEvidence } from '../executions/evidenceFields.tsx';

const HINT = `At most ${MAX_KIB} KiB. The admin and the creator can read it.`;

export function UploadEvidence({ dispute }: { dispute: DisputeSummary }) {
  const { execution_id, evidence_hash, answer_due_at } = dispute;
  const queries = useQueryClient();
  const notify = useNotify();
  const entered = useEvidence(readAnyFile);
  const { kind, evidence } = entered;
  const upload = useMutation({
    async mutationFn({ bytes, mediaType, hashHex }: Evidence) {
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
