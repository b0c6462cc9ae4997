/** The payer: the connected wallet, or the wallet of an API key. */
import { Choice } from '../../../parts/choice.tsx';
import { TextLink } from '../../../parts/links.tsx';
import { Input } from '../../../parts/ui.tsx';
import { formatAmount, shorten, Time } from '../../../parts/values.tsx';
import { explain } from '../../../service.ts';
import { isShared, useConnected } from '../../../wallet/wallets.ts';
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
      <Choice name="payer" title="Wallet" isChosen={payer === 'wallet'} onChoose={() => onPayer('wallet')}>
        {payer === 'wallet' &&
          (connected
            ? isShared(connected.wallet)
              ? `${connected.wallet.name}, a shared test wallet: it signs without asking.`
              : `${connected.wallet.name}, ${shorten(connected.account.address)}. Your wallet asks you to approve twice: the payment, and a message that starts the call. You pay once.`
            : 'You are asked to connect one.')}
      </Choice>
      <Choice name="payer" title="API key" isChosen={payer === 'key'} onChoose={() => onPayer('key')}>
        You paste a key that you made for your programs. It pays within its limits, without asking.
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
          <p className="min-h-10 text-sm text-faint" aria-live="polite">
            {key && (
              <>
                <strong className="font-medium text-ink">{key.name}</strong> can pay up to{' '}
                {formatAmount(key.payable_usdc)} a call now. {formatAmount(key.period_remaining_usdc)} are left until{' '}
                <Time at={key.renews_at} />, {formatAmount(key.total_remaining_usdc)} in all.
              </>
            )}
            {unread && `The key could not be read: ${explain(unread)}`}
          </p>
          <TextLink to="/keys" className="text-sm">
            Create an API key
          </TextLink>
        </div>
      )}
    </fieldset>
  );
}
