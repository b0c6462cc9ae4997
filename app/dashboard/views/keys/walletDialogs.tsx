/** Changes what all keys of a wallet share: the allowance, and the gas balance. */
import { useState } from 'react';
import { lastingAllowance } from '../../../sdk/wallet/usualAmounts.ts';
import { formatSol, parseSol } from '../../../sdk/wire/sol.ts';
import { formatUsdc, parseUsdc } from '../../../sdk/wire/usdc.ts';
import { read } from '../../parts/reading.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { Input, Note } from '../../parts/ui.tsx';
import { formatCount, formatLamports } from '../../parts/values.tsx';
import { CORRECT_FIRST, ReplaceDelegate } from './fields.tsx';
import { callsPaid, spendableOf, type WalletMoney } from './money.ts';
import { shownAmount, UNLIMITED } from './wallet.tsx';

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
      whyNot={allowance.value === undefined ? CORRECT_FIRST : 'Agree to replace the other program’s allowance first.'}
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
      {otherDelegate && <ReplaceDelegate delegate={otherDelegate} value={mayReplace} onChange={setMayReplace} />}
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
  const sol = formatLamports(amount ?? 0n);
  const after = amount === undefined ? null : way === 'add' ? money.gas + amount : money.gas - amount;
  return (
    <SignDialog
      title={way === 'add' ? 'Top up the gas balance' : 'Withdraw from the gas balance'}
      about="A call is two transactions on Solana. This wallet’s gas balance pays their fees for all of its keys, and lends each call a refundable deposit until it ends. Only this wallet can withdraw it."
      rows={[
        ['Gas balance now', formatLamports(money.gas)],
        ['Afterwards', after === null || after < 0n ? '' : formatLamports(after)],
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
            ? callsHint({ ...money, gas: money.gas + (amount ?? 0n) })
            : `Leave nothing, or at least ${formatLamports(money.leastGas)}.`
        }
      />
      {way === 'add' && money.gas + (amount ?? 0n) < money.leastGas && (
        <Note tone="warn">A gas balance must be at least {formatLamports(money.leastGas)}.</Note>
      )}
    </SignDialog>
  );
}

function callsHint(money: WalletMoney): string {
  const calls = callsPaid(money);
  return calls === 0
    ? 'The gas balance is then too little for a call.'
    : `The gas balance then pays for about ${formatCount(calls)} calls at usual fees.`;
}
