/** Shared by all keys of a wallet: its USDC, the allowance on it, the gas balance that pays their network fees, and what is wrong with these. */
import type { ReactNode } from 'react';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { DAY_MS } from '../../../sdk/wire/time.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Button, Card, cx, Note, Skeleton, withUnit } from '../../parts/ui.tsx';
import { formatAmount, formatCount, formatLamports, formatUnits, Id, Time } from '../../parts/values.tsx';
import { OTHER_LIMITS } from './keyCard.tsx';
import { allSpendableNow, callsPaid, isLive, leftOf, OPTIONAL_GAS, spendableOf, type WalletMoney } from './money.ts';

/** Above this the amount counts as unlimited: some programs approve the maximum. */
export const UNLIMITED = 2n ** 62n;

export const shownAmount = (amount: bigint): string => (amount >= UNLIMITED ? 'Unlimited' : formatUnits(amount));

interface WalletFiguresProps {
  /** The keys that can call agents. */
  keyIds: readonly string[];
  money: WalletMoney | undefined;
  /** The operator pays the network fees; undefined until that is known. */
  isSponsored: boolean | undefined;
  onUsdc(): void;
  onGas(way: 'add' | 'take'): void;
  onAllowance(): void;
}

/** What the keys can spend now, and who pays their network fees; and, folded, what nobody needs to change often. */
export function WalletFigures({ keyIds, money, isSponsored, onUsdc, onGas, onAllowance }: WalletFiguresProps) {
  if (!money || isSponsored === undefined) {
    return (
      <div className={ROW}>
        <Skeleton className="h-37 sm:h-29" />
        <Skeleton className="h-37 sm:h-29" />
        <Skeleton className="col-span-full h-23" />
      </div>
    );
  }
  const { amount, limit } = allSpendableNow(keyIds, money, isSponsored);
  const gas = <Gas money={money} isSponsored={isSponsored} onGas={onGas} />;
  return (
    <div className={ROW}>
      <Shared label="In the wallet" value={money.balance === null ? 'No USDC yet' : shownAmount(money.balance)}>
        <Button small onClick={onUsdc}>
          Add USDC
        </Button>
      </Shared>
      <Shared
        label="Your keys can spend now"
        value={formatUnits(amount)}
        about={OTHER_LIMITS[limit] ?? 'all that is left of their limits'}
      />
      {isSponsored ? (
        <p className="col-span-full text-sm text-faint">
          Network fees of calls by key: paid by this marketplace
          {money.gas > 0n && ', as far as your gas balance does not cover them'}.
        </p>
      ) : (
        gas
      )}
      {!money.otherDelegate && (
        <p className="col-span-full text-sm text-faint tabular-nums">
          Left of the allowance that all keys share: {shownAmount(money.allowance)}. A refund does not give it back.
        </p>
      )}
      <details className="col-span-full text-sm">
        <summary className="py-1">
          Advanced{' '}
          <span className="font-normal text-faint">{isSponsored ? 'allowance, gas balance' : 'allowance'}</span>
        </summary>
        <div className="mt-2 grid gap-3 sm:grid-cols-2">
          <Shared
            label="Allowance of all keys"
            value={money.otherDelegate ? 'Replaced by another program' : shownAmount(money.allowance)}
            about="The most that all keys together may still spend. Each call takes its price from it."
          >
            <Button small onClick={onAllowance}>
              Change
            </Button>
          </Shared>
          {isSponsored && gas}
        </div>
      </details>
    </div>
  );
}

const ROW = 'mb-6 grid grid-cols-2 gap-3';

function Gas({
  money,
  isSponsored,
  onGas,
}: Pick<WalletFiguresProps, 'onGas'> & { money: WalletMoney; isSponsored: boolean }) {
  const calls = callsPaid(money);
  return (
    <Shared
      label="Gas balance"
      value={formatLamports(money.gas)}
      about={
        isSponsored
          ? OPTIONAL_GAS
          : `pays the network fees: ${calls === 0 ? 'too little for a call' : `enough for about ${formatCount(calls)} calls`}`
      }
      isLast={!isSponsored}
    >
      <Button small onClick={() => onGas('add')}>
        Top up
      </Button>
      {money.gas > 0n && (
        <Button small onClick={() => onGas('take')}>
          Withdraw
        </Button>
      )}
    </Shared>
  );
}

interface SharedProps {
  label: string;
  value: string;
  about?: ReactNode;
  /** It takes a row of its own. */
  isLast?: boolean;
  children?: ReactNode;
}

function Shared({ label, value, about, isLast = false, children }: SharedProps) {
  return (
    <Card className={cx('sm:min-h-28', isLast && 'col-span-full')}>
      <h2 className="text-sm text-faint">{label}</h2>
      <div className="mt-1 flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <p className="text-xl font-semibold tabular-nums">{withUnit(value)}</p>
        {children && <div className="flex flex-wrap gap-2">{children}</div>}
      </div>
      {about && <p className="mt-0.5 text-sm text-faint first-letter:uppercase">{about}</p>}
    </Card>
  );
}

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
  const spendable = spendableOf(money);
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
      {!otherDelegate && allowed >= wanted * LOW_PART && allowance < spendable && (
        <Warning
          tone="plain"
          title="The allowance ends before the limits of your keys"
          action="Renew the allowance"
          onAct={onAllowance}
        >
          {formatAmount(allowed)} are left for all keys together, which may still spend {formatUnits(spendable)} in
          total. Each call takes its price from the allowance, and a refund does not give it back.
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

function Warning(props: { tone?: 'plain'; title: string; action: string; onAct(): void; children: ReactNode }) {
  return (
    <Note tone={props.tone ?? 'warn'} title={props.title}>
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
