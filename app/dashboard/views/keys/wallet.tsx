/** Shared by all keys of a wallet: its USDC, the allowance on it, and the gas balance that pays their network fees. */
import type { ReactNode } from 'react';
import { formatSol } from '../../../sdk/wire/sol.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import { Button, Card, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatCount } from '../../parts/values.tsx';
import { callsPaid, type WalletMoney } from './money.ts';

/** Above this the amount counts as unlimited: some programs approve the maximum. */
export const UNLIMITED = 2n ** 62n;

export const shownAmount = (amount: bigint): string =>
  amount >= UNLIMITED ? 'Unlimited' : formatAmount(toUsdc(amount));

interface WalletFiguresProps {
  money: WalletMoney | undefined;
  /** The operator pays the network fees; undefined until that is known. */
  isSponsored: boolean | undefined;
  onGas(way: 'add' | 'take'): void;
  onAllowance(): void;
}

export function WalletFigures({ money, isSponsored, onGas, onAllowance }: WalletFiguresProps) {
  if (!money) {
    return (
      <div className="mb-6 grid gap-3 sm:grid-cols-3">
        {[0, 1, 2].map((index) => (
          <Skeleton key={index} className="h-28" />
        ))}
      </div>
    );
  }
  return (
    <div className="mb-6 grid gap-3 sm:grid-cols-3">
      <Shared
        label="In the wallet"
        value={money.balance === null ? 'No USDC yet' : shownAmount(money.balance)}
        about="pays for your calls"
      />
      <Shared
        label="Allowance of all keys"
        value={money.otherDelegate ? 'Replaced by another program' : shownAmount(money.allowance)}
        about="refunded calls use it up too"
      >
        <Button small onClick={onAllowance}>
          Change
        </Button>
      </Shared>
      <Shared
        label="Gas balance"
        value={`${formatSol(money.gas)} SOL`}
        about={
          isSponsored === false
            ? `network fees, in SOL: ${callsPaid(money) === 0 ? 'too little for a call' : `enough for about ${formatCount(callsPaid(money))} calls`}`
            : isSponsored && 'not needed: this marketplace pays the network fees'
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
    </div>
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
