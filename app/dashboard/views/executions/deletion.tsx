/** Deletes the caller's request and result, or says when and why they cannot be deleted yet. */
import { type ReactNode, useState } from 'react';
import { ActDialog } from '../../parts/act.tsx';
import { useChainClock } from '../../parts/chainClock.ts';
import { Button, Card, Skeleton } from '../../parts/ui.tsx';
import { Time } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { forgetAsked } from '../agent/run/kept.ts';
import type { CallParts, Execution } from './facts.tsx';

/** The service waits this much longer than the dispute window, because its index may be behind the chain. */
const INDEXED_MS = 60_000;

export function Deletion(props: CallParts) {
  const [isOpen, setOpen] = useState(false);
  const { execution } = props;
  const until = props.record?.disputable_until ?? null;
  const now = useChainClock(until !== null);
  if (isWaiting(props) || (until !== null && now === undefined)) return <Skeleton className="h-36 max-lg:order-4" />;
  const obstacle = obstacleOf(props, now);
  return (
    <Card className="max-lg:order-4">
      <h2 className="font-semibold">Delete what you sent and received</h2>
      {execution.content_deleted_at !== null ? (
        <p className="mt-1 text-sm text-faint">
          You deleted it on <Time at={execution.content_deleted_at} />. Amounts, times, hashes and signatures stay on
          the chain.
        </p>
      ) : obstacle !== null ? (
        <p className="mt-1 text-sm text-faint">{obstacle}</p>
      ) : (
        <>
          <p className="mt-1 mb-4 text-sm text-faint">
            The marketplace keeps task, parameters and result. You can delete them permanently.
          </p>
          <Button kind="danger" onClick={() => setOpen(true)}>
            Delete …
          </Button>
        </>
      )}
      {isOpen && <DeleteDialog execution={execution} onClose={() => setOpen(false)} />}
    </Card>
  );
}

const isWaiting = ({ execution: { status, archive }, dispute, record }: CallParts): boolean =>
  (status === 'completed' || status === 'disputed') && (dispute === undefined || (record === undefined && !archive));

/** Why it cannot be deleted yet; null if it can. */
function obstacleOf({ execution, dispute, record }: CallParts, now: number | undefined): ReactNode {
  const { status, refund } = execution;
  if (status === 'pending' || status === 'running') return 'You can delete it once the call has ended.';
  if (refund !== null && refund !== 'done') return 'You can delete it once the refund has arrived.';
  if (dispute?.outcome === 'open' || record?.dispute === 'open') {
    return 'You can delete it once the dispute has an outcome: until then both sides and the admin need it.';
  }
  if (dispute || !record?.disputable_until || now === undefined) return null;
  const until = Date.parse(record.disputable_until) + INDEXED_MS;
  if (now >= until) return null;
  return (
    <>
      You can delete it from <Time at={new Date(until).toISOString()} /> on. Until then a dispute may need it.
    </>
  );
}

function DeleteDialog({ execution, onClose }: { execution: Execution; onClose(): void }) {
  const { execution_id: id, creator_amount_usdc } = execution;
  async function remove() {
    await request('deleteExecutionContent', { execution_id: id });
    forgetAsked(id);
  }
  return (
    <ActDialog
      title="Delete what you sent and received?"
      about="The marketplace deletes task, parameters, result and steps at once. Nobody can restore them."
      confirm="Delete permanently"
      danger
      cancel="Keep it"
      failed="It was not deleted"
      work={remove}
      done={() => ['It is deleted', 'The marketplace no longer has task, parameters and result.']}
      onClose={onClose}
    >
      <ul className="grid list-disc gap-1.5 pl-5 text-sm">
        <li>The record stays on the chain: who paid whom how much and when, and the hashes of request and result.</li>
        <li>The creator may have its own copy.</li>
        {creator_amount_usdc > 0 && (
          <li>A receipt that you saved before stays valid. Download it first if you may need it.</li>
        )}
      </ul>
    </ActDialog>
  );
}
