/** Shared by all keys of a wallet: its USDC, the allowance on it, and the gas balance that pays their network fees. */
import { type ReactNode, useState } from 'react';
import { lastingAllowance } from '../../../sdk/wallet/usualAmounts.ts';
import { formatSol, parseSol } from '../../../sdk/wire/sol.ts';
import { formatUsdc, parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { Button, Card, Checkbox, Input, Note, Skeleton } from '../../parts/ui.tsx';
import { formatAmount, formatCount, Id } from '../../parts/values.tsx';
import { CORRECT_FIRST, read } from './fields.tsx';
import { callsPaid, spendableOf, type WalletMoney } from './money.ts';

/** Above this the amount counts as unlimited: some programs approve the maximum. */
const UNLIMITED = 2n ** 62n;

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

interface WalletDialogProps {
  money: WalletMoney;
  onClose(): void;
}

export function AllowanceDialog({ money, onClose }: WalletDialogProps) {
  const { otherDelegate, allowance: present } = money;
  const spendable = spendableOf(money);
  const [text, setText] = useState(() => proposed(present, spendable));
  const [mayReplace, setMayReplace] = useState(false);
  const allowance = read(() => parseUsdc(text.trim()));
  return (
    <SignDialog
      title="Change the allowance"
      about="The total that all keys of this wallet may still spend. Each call takes its price from it, and a refund does not give it back. The limits of each key apply as well."
      rows={[
        ['Now', otherDelegate ? 'taken by another program' : shownAmount(present)],
        ['Afterwards', allowance.value === undefined ? '' : shownAmount(allowance.value)],
        ['Left of the limits of all keys', shownAmount(spendable)],
      ]}
      doing="Changing the allowance"
      confirm="Sign the allowance"
      disabled={allowance.value === undefined || (otherDelegate !== null && !mayReplace)}
      whyNot={allowance.value === undefined ? CORRECT_FIRST : 'Agree to replace the present delegate first.'}
      work={({ marketplace, wallet, changeAllowance }) =>
        changeAllowance(marketplace, { wallet, allowance: allowance.value! })
      }
      done={({ allowance_usdc }) => [
        'The allowance is changed',
        `All keys together may now spend ${allowance_usdc} USDC.`,
      ]}
      onClose={onClose}
    >
      <Input
        label="Allowance, USDC"
        inputMode="decimal"
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={allowance.error}
        hint="Twice what is left of the limits lasts, even if half of the money comes back. 0 stops every key at once, without ending any."
      />
      {otherDelegate && (
        <Checkbox
          checked={mayReplace}
          onChange={(event) => setMayReplace(event.target.checked)}
          label="Replace the present delegate"
          hint={
            <>
              <Id value={otherDelegate.address} kind="address" /> loses its {shownAmount(otherDelegate.allowance)}.
            </>
          }
        />
      )}
    </SignDialog>
  );
}

/** The present allowance, or one that outlasts the limits of the keys. */
function proposed(present: bigint, spendable: bigint): string {
  const lasting = lastingAllowance(spendable);
  if (present < UNLIMITED && present > lasting) return formatUsdc(present);
  return lasting === 0n ? '100' : formatUsdc(lasting);
}

export function GasDialog({ money, onClose, way }: WalletDialogProps & { way: 'add' | 'take' }) {
  const [text, setText] = useState(way === 'add' ? '0.01' : formatSol(money.gas));
  const lamports = read(() => parseSol(text.trim()));
  const amount = lamports.value;
  const sol = `${formatSol(amount ?? 0n)} SOL`;
  const after = amount === undefined ? null : way === 'add' ? money.gas + amount : money.gas - amount;
  return (
    <SignDialog
      title={way === 'add' ? 'Top up the gas balance' : 'Withdraw from the gas balance'}
      about="A call is two transactions on Solana. This wallet's gas balance pays their fees for all of its keys, and lends each call a refundable deposit until it ends. Only this wallet can withdraw it."
      rows={[
        ['Gas balance now', `${formatSol(money.gas)} SOL`],
        ['Afterwards', after === null || after < 0n ? '' : `${formatSol(after)} SOL`],
      ]}
      doing={way === 'add' ? `Adding ${sol} to the gas balance` : `Withdrawing ${sol} from the gas balance`}
      spends={way === 'add' && amount !== undefined ? { lamports: amount } : undefined}
      confirm={way === 'add' ? 'Sign the top-up' : 'Sign the withdrawal'}
      disabled={amount === undefined || amount === 0n || (after !== null && after < 0n)}
      whyNot={amount === 0n ? 'Enter an amount above 0 first.' : CORRECT_FIRST}
      work={({ marketplace, wallet, addGas, takeGas }): Promise<{ gas_sol: string }> =>
        way === 'add'
          ? addGas(marketplace, { wallet, lamports: amount! })
          : takeGas(marketplace, { wallet, lamports: amount === money.gas ? null : amount! })
      }
      done={({ gas_sol }) => [way === 'add' ? 'Topped up' : 'Withdrawn', `The gas balance is ${gas_sol} SOL.`]}
      onClose={onClose}
    >
      <Input
        label="Amount, SOL"
        inputMode="decimal"
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={lamports.error ?? (after !== null && after < 0n ? 'The gas balance is lower than that.' : null)}
        hint={
          way === 'add'
            ? '0.01 SOL pays for about 650 calls at usual fees.'
            : `Leave nothing, or at least ${formatSol(money.leastGas)} SOL.`
        }
      />
      {way === 'add' && money.gas + (amount ?? 0n) < money.leastGas && (
        <Note tone="warn">A gas balance must be at least {formatSol(money.leastGas)} SOL.</Note>
      )}
    </SignDialog>
  );
}
