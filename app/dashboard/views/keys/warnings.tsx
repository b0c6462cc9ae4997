/** What is wrong with what all keys of a wallet share, and with the end of a key. */
import type { ReactNode } from 'react';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { DAY_MS } from '../../../sdk/wire/time.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Button, Note } from '../../parts/ui.tsx';
import { formatAmount, formatUnits, Id, Time } from '../../parts/values.tsx';
import { callsPaid, isLive, leftOf, type WalletMoney } from './money.ts';

const FEW_CALLS = 20;
/** Warn if the allowance is below this fraction of the amount that one key alone may spend now. */
const LOW_PART = 0.2;
const SOON_MS = 7 * DAY_MS;

interface WarningsProps {
  keys: readonly KeySummary[];
  money: WalletMoney;
  /** The operator pays the network fees; undefined until that is known. */
  isSponsored: boolean | undefined;
  onAllowance(): void;
  onGas(): void;
}

export function Warnings({ keys, money, isSponsored, onAllowance, onGas }: WarningsProps) {
  const live = keys.filter((key) => !key.revoked && isLive(money.grants.get(key.key_id), money.now));
  if (live.length === 0) return null;
  const { otherDelegate, allowance, now } = money;
  const wanted = Math.max(...live.map((key) => mostNow(money, key.key_id)));
  const allowed = toUsdc(allowance);
  const ending = live.filter(
    (key) => key.expires_at && Date.parse(key.expires_at) - now * 1_000 < SOON_MS && !isReplaced(key, live),
  );
  return (
    <div className="mb-6 grid gap-3 empty:hidden">
      {otherDelegate && (
        <Warning
          title="Another program replaced the USDC allowance of your keys"
          action="Restore the allowance"
          onAct={onAllowance}
        >
          A USDC account can have only one delegate, which is now <Id value={otherDelegate.address} kind="address" />{' '}
          with {formatUnits(otherDelegate.allowance)}. Until you change that, every call with these keys is refused.
        </Warning>
      )}
      {!otherDelegate && allowed < wanted * LOW_PART && (
        <Warning
          title={allowance === 0n ? 'The keys have no allowance' : 'The allowance is running low'}
          action="Renew the allowance"
          onAct={onAllowance}
        >
          {formatAmount(allowed)} are left for all keys together, but one of them alone may spend {formatAmount(wanted)}{' '}
          now. Each call takes its price from the allowance, and a refund does not give it back. Calls beyond it are
          refused.
        </Warning>
      )}
      {isSponsored === false && callsPaid(money) < FEW_CALLS && (
        <Warning title="The gas balance is low" action="Top up" onAct={onGas}>
          It pays the network fees of all keys and is{' '}
          {callsPaid(money) === 0 ? 'almost empty' : `enough for about ${callsPaid(money)} calls`}. Without it, calls
          with these keys are refused.
        </Warning>
      )}
      {ending.map((key) => (
        <Note key={key.key_id} tone="warn" title={`The key "${key.name}" ends soon`}>
          It works until <Time at={key.expires_at!} />. Replace or extend it before then.
        </Note>
      ))}
    </div>
  );
}

function Warning(props: { title: string; action: string; onAct(): void; children: ReactNode }) {
  return (
    <Note tone="warn" title={props.title}>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <p className="max-w-2xl">{props.children}</p>
        <Button small onClick={props.onAct}>
          {props.action}
        </Button>
      </div>
    </Note>
  );
}

/** USDC that a key could spend now, regardless of the allowance. */
function mostNow(money: WalletMoney, keyId: string): number {
  const grant = money.grants.get(keyId);
  if (!grant) return 0;
  const { period, total } = leftOf(grant, money.now);
  return Math.min(toUsdc(period), toUsdc(total));
}

/** True if a newer key has the same name. It replaces this key, so the expiry of this one needs no warning. */
function isReplaced(key: KeySummary, keys: readonly KeySummary[]): boolean {
  return keys.some(({ name, created_at }) => name === key.name && created_at > key.created_at);
}
