/** What the treasury holds, fees and what is left of awards, and its withdrawal. */
import { useState } from 'react';
import { ADDRESS } from '../../../sdk/wire/fields.ts';
import { formatUsdc, parseUsdc } from '../../../sdk/wire/usdc.ts';
import { read } from '../../parts/reading.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Card, Input, withUnit } from '../../parts/ui.tsx';
import { formatAmount, Id, shorten } from '../../parts/values.tsx';
import type { Settings } from './chainConfig.ts';

/** Base units. */
function parseAmount(text: string, held: string): bigint {
  const amount = parseUsdc(text.trim());
  if (amount === 0n) throw new RangeError('It must be more than 0.');
  if (amount > parseUsdc(held)) throw new RangeError(`The treasury holds ${held} USDC.`);
  return amount;
}

const stopWords = ({ guardian, guardian_paused: isPaused }: Settings): string =>
  isPaused
    ? 'The guardian’s pause stops withdrawals now.'
    : guardian
      ? 'Only a pause that the guardian has set before stops it.'
      : 'Only a guardian’s pause, set before, could stop it, and there is no guardian.';

export function Treasury({ config }: { config: Settings }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [account, setAccount] = useState('');
  const held = config.treasury_usdc;
  const text = typed ?? held;
  const { value: amount = 0n, error: fault } = read(() => parseAmount(text, held));
  const destination = account.trim();
  const isAddress = destination === '' || ADDRESS.test(destination);
  return (
    <Card id="treasury" className="grid content-start gap-4">
      <h2 className="font-semibold">Treasury</h2>
      <div>
        <p className="text-2xl font-semibold tabular-nums">{withUnit(formatAmount(Number(held)))}</p>
        <p className="mt-1 flex flex-wrap items-center gap-x-2 text-sm text-faint">
          in the treasury <Id value={config.treasury} kind="address" />
        </p>
        <p className="mt-1 text-sm text-faint">A withdrawal takes effect as soon as you sign it. {stopWords(config)}</p>
      </div>
      <div>
        <SignButton
          button="Withdraw from the treasury …"
          small
          closed={held === '0'}
          title="Withdraw from the treasury"
          rows={[
            ['Amount', fault ? '–' : `${formatUsdc(amount)} USDC`],
            [
              'To',
              destination === '' ? `the USDC account of ${shorten(config.admin)}, the admin` : shorten(destination),
            ],
            ['Treasury', fault ? `${held} USDC` : `${held} → ${formatUsdc(parseUsdc(held) - amount)} USDC`],
          ]}
          doing={`Withdrawing ${formatUsdc(amount)} USDC from the treasury`}
          confirm="Sign and withdraw"
          disabled={fault !== null || !isAddress}
          work={({ marketplace, wallet, withdrawFees, PublicKey }) =>
            withdrawFees(marketplace, wallet, {
              amount,
              ...(destination !== '' && { destination: new PublicKey(destination) }),
            })
          }
          done={({ amount_usdc }) => [`${amount_usdc} USDC are withdrawn`]}
          onDone={() => setTyped(null)}
        >
          <Input
            label="Amount, USDC"
            value={text}
            error={fault}
            inputMode="decimal"
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
          />
          <Input
            label="USDC account"
            hint="A token account, not a wallet. Empty: the USDC account of your wallet."
            error={isAddress ? null : 'It must be the address of a USDC account.'}
            value={account}
            className="font-mono"
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setAccount(event.target.value)}
          />
        </SignButton>
      </div>
    </Card>
  );
}
