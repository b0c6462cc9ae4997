/** Shared by all keys of a wallet: its USDC, the allowance on it, and the gas balance that pays their network fees. */
import type { ReactNode } from 'react';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Button, Card, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatCount } from '../../parts/values.tsx';
import { LIMITS } from './keyCard.tsx';
import { allSpendableNow, callsPaid, OPTIONAL_GAS, type WalletMoney } from './money.ts';

/** Above this the amount counts as unlimited: some programs approve the maximum. */
export const UNLIMITED = 2n ** 62n;

export const shownAmount = (amount: bigint): string =>
  amount >= UNLIMITED ? 'Unlimited' : formatAmount(toUsdc(amount));

interface WalletFiguresProps {
  /** The keys that can call agents. */
  keyIds: readonly string[];
  money: WalletMoney | undefined;
  /** The operator pays the network fees; undefined until that is known. */
  isSponsored: boolean | undefined;
  onGas(way: 'add' | 'take'): void;
  onAllowance(): void;
}

/** What the keys can spend now; and, folded, what nobody needs to change often. */
export function WalletFigures({ keyIds, money, isSponsored, onGas, onAllowance }: WalletFiguresProps) {
  if (!money || isSponsored === undefined) {
    return (
      <div className="mb-6 grid gap-3 sm:grid-cols-2">
        <Skeleton className="h-28" />
        <Skeleton className="h-28" />
      </div>
    );
  }
  const { amount, limit } = allSpendableNow(keyIds, money, isSponsored);
  const gas = <Gas money={money} isSponsored={isSponsored} onGas={onGas} />;
  return (
    <div className="mb-6 grid gap-3 sm:grid-cols-2">
      <Shared
        label="In the wallet"
        value={money.balance === null ? 'No USDC yet' : shownAmount(money.balance)}
        about="pays for your calls"
      />
      <Shared
        label="Your keys can spend now"
        value={formatAmount(toUsdc(amount))}
        about={limit === 'keys' ? 'all that their limits leave' : LIMITS[limit]}
      />
      {!isSponsored && gas}
      <details className="text-sm sm:col-span-2">
        <summary className="py-1 font-medium">
          Advanced{' '}
          <span className="font-normal text-faint">{isSponsored ? 'allowance, gas balance' : 'allowance'}</span>
        </summary>
        <div className="mt-2 grid gap-3 sm:grid-cols-2">
          <Shared
            label="Allowance of all keys"
            value={money.otherDelegate ? 'Replaced by another program' : shownAmount(money.allowance)}
            about="Upper limit for all keys together. Each call takes its price from it, and a refund does not give it back."
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

function Gas({
  money,
  isSponsored,
  onGas,
}: Pick<WalletFiguresProps, 'onGas'> & { money: WalletMoney; isSponsored: boolean }) {
  const calls = callsPaid(money);
  return (
    <Shared
      label="Gas balance"
      value={`${formatSol(money.gas)} SOL`}
      about={
        isSponsored
          ? OPTIONAL_GAS
          : `network fees, in SOL: ${calls === 0 ? 'too little for a call' : `enough for about ${formatCount(calls)} calls`}`
      }
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

function Shared(props: { label: string; value: string; about: ReactNode; children?: ReactNode }) {
  return (
    <Card className="flex flex-wrap items-start justify-between gap-3 p-4 sm:min-h-28">
      <div>
        <h2 className="text-sm text-faint">{props.label}</h2>
        <p className="mt-1 text-xl font-semibold tabular-nums">{props.value}</p>
        <p className="mt-0.5 min-h-4 text-xs text-faint">{props.about}</p>
      </div>
      {props.children && <div className="flex flex-wrap gap-2 self-end">{props.children}</div>}
    </Card>
  );
}
