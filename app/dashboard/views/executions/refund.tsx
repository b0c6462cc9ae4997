/** The refund of a call that is still open: when anybody can trigger it. The run of an agent does not load this. */
import type { ExecutionFull } from '../../../sdk/wire/wire.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Note } from '../../parts/ui.tsx';
import { formatAmount, formatSpan, Time } from '../../parts/values.tsx';
import { REFUND_TEXTS } from './outcome.ts';
import { idBytes, type ShownRecord } from './record.ts';

export function RefundState({ execution, record }: { execution: ExecutionFull; record: ShownRecord }) {
  const now = useChainClock();
  if (!record.refund_at) return null;
  const left = now === undefined ? null : (Date.parse(record.refund_at) - now) / 1_000;
  const mayRefund = left !== null && left <= 0;
  const price = formatAmount(Number(record.price_usdc));
  const { status, refund: state } = execution;
  const waits = status === 'failed' && state && state !== 'done' ? REFUND_TEXTS[state] : null;
  return (
    <Note
      tone={mayRefund ? 'warn' : 'plain'}
      title={mayRefund ? 'The price can be sent back now' : 'If no result comes'}
    >
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p className="max-w-xl tabular-nums">
          {waits && <>{waits} </>}
          {mayRefund ? (
            <>No signed result has settled it in time, so anybody can send the {price} back to the caller.</>
          ) : (
            <>
              The marketplace sends {price} back. If it does not, anybody can from <Time at={record.refund_at} /> on
              {left !== null && <>, in {formatSpan(left)}</>}.
            </>
          )}
        </p>
        {mayRefund && (
          <SignButton
            button="Refund now"
            kind="primary"
            small
            title="Send the price back"
            about="The escrow goes back to the wallet that paid it, no matter which wallet signs."
            rows={[
              ['Amount', price],
              ['To the wallet', record.caller],
            ]}
            doing={`Sending ${price} back to the caller`}
            confirm="Sign the refund"
            work={({ marketplace, wallet, refund }) =>
              refund(marketplace, { wallet, executionId: idBytes(execution.execution_id) })
            }
            done={({ amount_usdc }) => ['Refunded', `${amount_usdc} USDC are back with the caller.`]}
          />
        )}
      </div>
    </Note>
  );
}
