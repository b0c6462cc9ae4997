/** The payer: the connected wallet, or the wallet of an API key. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cx, Input } from '../../../parts/ui.tsx';
import { formatAmount, shorten, Time } from '../../../parts/values.tsx';
import { explain } from '../../../service.ts';
import { useConnected } from '../../../wallet/wallets.ts';
import { type Payer, useTypedKey } from './cost.ts';

interface PayerChoiceProps {
  payer: Payer;
  onPayer(payer: Payer): void;
  apiKey: string;
  onApiKey(apiKey: string): void;
  error: string | null;
}

export function PayerChoice({ payer, onPayer, apiKey, onApiKey, error }: PayerChoiceProps) {
  const connected = useConnected();
  const { data: key, error: unread } = useTypedKey(payer, apiKey);
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-2 text-sm font-medium">Pay by</legend>
      <Choice value="wallet" payer={payer} onPayer={onPayer} title="Wallet">
        {connected
          ? `${connected.wallet.name}, ${shorten(connected.account.address)}. Your wallet asks you to approve twice: the payment, and a message that starts the call. You pay once.`
          : 'You are asked to connect one.'}
      </Choice>
      <Choice value="key" payer={payer} onPayer={onPayer} title="API key">
        You paste a key. It pays within its limits, without asking again.
      </Choice>
      {payer === 'key' && (
        <div className="mt-2 grid gap-2">
          <Input
            label="API key"
            hint="Kept in this page’s memory until you leave it, and nowhere else."
            // Not a password field, because browsers offer to save passwords.
            className="font-mono [-webkit-text-security:disc]"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder="crtx_…"
            value={apiKey}
            onChange={({ target }) => onApiKey(target.value)}
            error={error}
          />
          <p className="min-h-8 text-xs text-faint" aria-live="polite">
            {key && (
              <>
                <strong className="font-medium text-ink">{key.name}</strong> can pay up to{' '}
                {formatAmount(key.payable_usdc)} a call now. {formatAmount(key.period_remaining_usdc)} are left until{' '}
                <Time at={key.renews_at} />, {formatAmount(key.total_remaining_usdc)} in all.
              </>
            )}
            {unread && `The key could not be read: ${explain(unread)}`}
          </p>
          <Link to="/keys" className="text-xs text-accent underline underline-offset-2">
            Create an API key
          </Link>
        </div>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  value: Payer;
  payer: Payer;
  onPayer(payer: Payer): void;
  title: string;
  children: ReactNode;
}

function Choice({ value, payer, onPayer, title, children }: ChoiceProps) {
  return (
    <label
      className={cx(
        'flex cursor-pointer items-start gap-3 rounded-lg border px-3 py-2.5',
        value === payer ? 'border-accent bg-accent-soft/50' : 'border-line bg-raised hover:border-strong',
      )}
    >
      <input
        type="radio"
        name="payer"
        className="mt-0.5 size-4.5 accent-(--accent)"
        checked={value === payer}
        onChange={() => onPayer(value)}
      />
      <span className="text-sm">
        <span className="font-medium">{title}</span>
        <span className="block text-xs text-faint">{children}</span>
      </span>
    </label>
  );
}
