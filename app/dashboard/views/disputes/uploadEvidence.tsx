/** The upload of evidence whose hash is on the chain, but whose file the marketplace does not have. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { FileField } from '../../parts/fileField.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Note, Spinner } from '../../parts/ui.tsx';
import { call, explain } from '../../service.ts';
import { MAX_KIB, readAnyFile, toBase64 } from '../executions/evidence.ts';

export function UploadEvidence({ dispute: { execution_id, evidence_hash } }: { dispute: DisputeSummary }) {
  const queries = useQueryClient();
  const notify = useNotify();
  const upload = useMutation({
    async mutationFn(file: File) {
      const { bytes, mediaType, hashHex } = await readAnyFile(file);
      if (hashHex !== evidence_hash) throw new Error(`This is another file: its SHA-256 is ${hashHex}.`);
      await call('disputes.putEvidence', { execution_id, content: toBase64(bytes), media_type: mediaType });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['disputes.case', execution_id] });
      notify('Your evidence is uploaded', 'The admin and the creator can read it.');
    },
  });
  return (
    <>
      <Note tone="warn" title="The admin cannot read your evidence">
        Upload the file whose SHA-256 is <code className="font-mono text-[0.8125rem] break-all">{evidence_hash}</code>.
        Otherwise the decision is made without it.
      </Note>
      <FileField
        label="Evidence file"
        hint={`At most ${MAX_KIB} KiB. The admin and the creator can read it.`}
        error={upload.error && explain(upload.error)}
        onFile={(file) => file && upload.mutate(file)}
      />
      {upload.isPending && <Spinner label="Uploading …" />}
    </>
  );
}
