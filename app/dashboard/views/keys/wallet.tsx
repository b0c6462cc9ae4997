/** Shared by all keys of a wallet: its USDC, the allowance on it, and the gas balance that pays their network fees. */
import type { ReactNode } from 'react';
import { Button, Card, cx, Skeleton, withUnit } from '../../parts/ui.tsx';
import { formatCount, formatLamports, formatUnits } from '../../parts/values.tsx';
import { OTHER_LIMITS } from './keyCard.tsx';
import { callsPaid, OPTIONAL_GAS, spendableNow, type WalletMoney } from './money.ts';

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
        <Skeleton className="h-38 sm:h-30" />
        <Skeleton className="h-38 sm:h-30" />
        <Skeleton className="col-span-full h-38 sm:h-23" />
      </div>
    );
  }
  const { amount, limit } = spendableNow(keyIds, money, isSponsored);
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
          Calls stop at the smallest of wallet, key limit and allowance. The allowance that all keys share has{' '}
          {shownAmount(money.allowance)} left; a refund does not give it back.
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
      <div className="mt-1 flex min-h-8 flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <p className="text-xl font-semibold tabular-nums">{withUnit(value)}</p>
        {children && <div className="flex flex-wrap gap-2">{children}</div>}
      </div>
      {about && <p className="mt-0.5 text-sm text-faint first-letter:uppercase">{about}</p>}
    </Card>
  );
}
