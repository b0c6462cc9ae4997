/** The creator's reply to a dispute, and the form for it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import {
  type CreatorDelivery,
  type DisputeSummary,
  MAX_REPLY_CHARACTERS,
} from '../../../sdk/wire/disputeProcedures.ts';
import { Failed } from '../../parts/failed.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { limited } from '../../parts/reading.ts';
import { useNotify } from '../../parts/toasts.tsx';
import { Button, TextArea } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import type { Reader } from './outcomes.tsx';

interface ReplyProps {
  dispute: DisputeSummary;
  reader: Reader;
  /** Null if it is not known, and for all but the admin. */
  delivery: CreatorDelivery | null;
}

export function Reply({ dispute, reader, delivery }: ReplyProps) {
  const mayReply = dispute.outcome === 'open' && reader === 'creator';
  return (
    <div className="grid gap-4">
      {dispute.reply !== null ? (
        <p className="text-sm whitespace-pre-wrap">{dispute.reply}</p>
      ) : (
        !mayReply && (
          <p className="text-sm text-faint">
            {reader === 'creator'
              ? 'You did not reply.'
              : `The creator ${dispute.outcome === 'open' ? 'has not replied' : 'did not reply'}.`}
            {reader === 'caller' && dispute.outcome === 'open' && ' It can reply until the dispute ends.'}
            {delivery && <> {deliveryWords(delivery)}</>}
          </p>
        )
      )}
      {mayReply && (
        <>
          <p className="text-sm text-faint">
            Say how the answer fulfils what the agent promises. Sending is free and needs no signature. You cannot
            accept or settle a dispute: the admin decides, and no rule fixes the amount. If you agree, say so.
          </p>
          <ReplyForm dispute={dispute} />
        </>
      )}
    </div>
  );
}

/** Whether the creator can know of the dispute. The deliveries of a deleted webhook are not known. */
function deliveryWords({ status, delivered_at }: CreatorDelivery): ReactNode {
  if (status === 'pending')
    return 'A webhook of the creator has not received this dispute yet; the marketplace keeps trying.';
  if (status === 'failed')
    return 'This dispute could not be delivered to a webhook of the creator, who knows of it only after opening this page.';
  if (delivered_at === null)
    return 'No webhook of the creator is known to have received this dispute: they know of it only if they have opened this page. The marketplace sends nothing else, and a listing has no contact.';
  return (
    <>
      A webhook of the creator received this dispute on <Time at={delivered_at} />.
    </>
  );
}

function ReplyForm({ dispute: { execution_id, reply } }: { dispute: DisputeSummary }) {
  const [text, setText] = useState('');
  const queries = useQueryClient();
  const notify = useNotify();
  const put = useMutation({
    mutationFn: () => call('disputes.putReply', { execution_id, reply: text.trim() }),
    onSuccess: async () => {
      setText('');
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['disputes.case', execution_id] }),
        queries.invalidateQueries({ queryKey: ['disputes.mine'] }),
      ]);
      notify('Your reply is saved', 'The caller and the admin can read it.');
    },
  });
  const field = limited(
    text.trim(),
    MAX_REPLY_CHARACTERS,
    'The caller and the admin read it. You can replace it until the admin decides.',
  );
  function submit(event: FormEvent): void {
    event.preventDefault();
    put.mutate();
  }
  return (
    <form className="grid justify-items-start gap-4" onSubmit={submit}>
      <AskBeforeLeaving when={text.trim() !== ''} title="Leave the reply unsent?">
        Your reply is not sent yet. Your input is lost if you leave.
      </AskBeforeLeaving>
      <div className="w-full">
        <TextArea
          label={reply === null ? 'Your reply' : 'A new reply'}
          {...field}
          className="sm:min-h-44"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <Button type="submit" kind="primary" busy={put.isPending} disabled={text.trim() === '' || field.error !== null}>
        {reply === null ? 'Send reply' : 'Replace reply'}
      </Button>
      <Failed error={put.error} title="The reply could not be saved" />
    </form>
  );
}
