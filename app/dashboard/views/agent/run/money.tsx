/** Who pays for a call and how much, row by row, shown before it is paid; and where the money goes. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AgentFull } from '../../../../sdk/wire/wire.ts';
import { Choice } from '../../../parts/choice.tsx';
import { ConnectButton } from '../../../parts/connect.tsx';
import { KEPT_WORDS, ProgramWarning } from '../../../parts/explained.tsx';
import { TextLink } from '../../../parts/links.tsx';
import { Trouble } from '../../../parts/trouble.tsx';
import { Card, cx, Input } from '../../../parts/ui.tsx';
import { formatAmount, formatLamports, formatNumber, formatSpan, shorten, Time } from '../../../parts/values.tsx';
import { configQuery, explain } from '../../../service.ts';
import { useConnected, useShared } from '../../../wallet/wallets.ts';
import { DisputeWords } from '../terms.tsx';
import { besidesText, depositOf, feesText, type Payer, useTypedKey, type WalletCost, walletCostQuery } from './cost.ts';

interface MoneyProps {
  agent: AgentFull;
  payer: Payer;
}

/** What the payer pays, and what comes back. */
export function Money({ agent, payer }: MoneyProps) {
  const isByWallet = payer === 'wallet';
  const { data: config } = useQuery(configQuery);
  const wallet = useQuery({ ...walletCostQuery, enabled: isByWallet });
  const isFree = useShared() && isByWallet;
  const isUnread = isByWallet && wallet.error !== null && !wallet.data;
  const unread = { fees: isUnread ? UNREAD : 'Reading …', deposit: '', back: '' };
  const { fees, deposit, back } = isByWallet
    ? wallet.data
      ? { fees: feesText(wallet.data), ...depositTexts(wallet.data) }
      : unread
    : keyTexts(config?.is_sponsored);
  const sol = (
    <dl className="grid gap-2.5 text-sm">
      <Row name="Network fees">{fees}</Row>
      {/* As high as its longest text by wallet, so that nothing moves. */}
      <Row name="Deposit for storage on Solana, comes back" about={back} className="min-h-21">
        {deposit}
      </Row>
    </dl>
  );
  return (
    <Card>
      <h2 className="mb-2 font-semibold">{isFree ? 'You pay nothing' : 'This call costs'}</h2>
      {!isFree && (
        <dl className="mb-2 text-sm">
          <Row name={isByWallet ? 'You pay now' : 'Price'}>
            <strong className="font-semibold">{formatAmount(agent.price_per_call_usdc)}</strong>
          </Row>
        </dl>
      )}
      {isByWallet ? (
        <>
          {isFree ? (
            <p className="mb-2 text-sm">
              The shared test wallet pays {formatAmount(agent.price_per_call_usdc)} and the network fees, all in test
              money.
            </p>
          ) : (
            <p className="mb-2 min-h-20 text-sm">
              Plus {isUnread ? 'SOL: the amount could not be read' : `${besidesText(wallet.data)}.`}
            </p>
          )}
          <details open={!isFree} className="text-sm">
            <summary className="mb-2">Fees and deposit</summary>
            {sol}
          </details>
        </>
      ) : (
        sol
      )}
      {isUnread && <Trouble error={wallet.error} what="The network fees" onRetry={wallet.refetch} />}
    </Card>
  );
}

interface RowProps {
  name: string;
  /** Below both. */
  about?: ReactNode;
  className?: string;
  children: ReactNode;
}

function Row({ name, about, className, children }: RowProps) {
  return (
    <div className={cx('grid grid-cols-[auto_1fr] content-start items-baseline gap-x-4 gap-y-1', className)}>
      <dt className="text-faint">{name}</dt>
      <dd className="text-right whitespace-nowrap tabular-nums">{children}</dd>
      {about && <dd className="col-span-2 font-normal text-faint">{about}</dd>}
    </div>
  );
}

/** The button for a shared test wallet, whose visitor pays nothing. */
export const runFree = ({ price_per_call_usdc }: AgentFull): string =>
  `Run with ${formatNumber(price_per_call_usdc)} USDC`;

/** Stands for an amount whose reading failed. */
export const UNREAD = 'Could not be read';

/** The refundable deposit, and when it comes back. */
export function depositTexts(cost: WalletCost) {
  const { escrowDeposit, recordSeconds } = cost;
  return {
    deposit: formatLamports(depositOf(cost)),
    back: `${formatLamports(escrowDeposit)} comes back when the call ends, the rest about ${formatSpan(recordSeconds)} later.`,
  };
}

/** Who pays the network fees of a call by key, and lends its deposit. */
function keyTexts(isSponsored: boolean | undefined) {
  if (isSponsored === undefined) return { fees: 'Reading …', deposit: '', back: '' };
  return isSponsored
    ? {
        fees: 'gas balance, or marketplace',
        deposit: 'lent',
        back: 'The gas balance of the key’s wallet pays first. If it is not enough, the marketplace pays the fees and lends the deposit.',
      }
    : {
        fees: 'from the gas balance',
        deposit: 'lent',
        back: 'The gas balance of the key’s wallet lends it until the call ends.',
      };
}

/** Where the price goes, and what a dispute costs. */
export function MoneyPath({ agent, seconds }: { agent: AgentFull; seconds: number }) {
  const { data: config } = useQuery(configQuery);
  const fee = config ? `, less the marketplace’s ${config.fee_bps / 100}\u00a0%` : '';
  return (
    <section className="min-w-0 text-sm text-faint">
      <h2 className="mb-2 text-base font-semibold text-ink">Where the money goes</h2>
      <ol className="grid list-decimal gap-2 pl-4">
        <li>The escrow program on Solana holds the price.</li>
        <li>A result that the creator has signed releases it to the creator{fee}.</li>
        <li>
          Without one within {formatSpan(seconds)}, the marketplace sends the whole price back to the wallet that paid.
          {config &&
            ` If it does not, you or anyone else can trigger it, from ${formatSpan(config.refund_grace_seconds)} after the timeout. It goes only to that wallet.`}
        </li>
      </ol>
      <div className="mt-4">
        <ProgramWarning />
      </div>
      <p className="mt-4">{KEPT_WORDS}</p>
      {config && (
        <p className="mt-4 border-t border-line pt-3 text-ink">
          Result wrong? <DisputeWords agent={agent} config={config} />
        </p>
      )}
    </section>
  );
}

interface PayerChoiceProps {
  payer: Payer;
  onPayer(payer: Payer): void;
  apiKey: string;
  onApiKey(apiKey: string): void;
  error: string | null;
}

export function PayerChoice({ payer, onPayer, apiKey, onApiKey, error }: PayerChoiceProps) {
  const connected = useConnected();
  const isShared = useShared();
  const { data: key, error: unread } = useTypedKey(payer, apiKey);
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-2 font-semibold">Pay by</legend>
      <Choice name="payer" title="Wallet" isChosen={payer === 'wallet'} onChoose={() => onPayer('wallet')}>
        {payer === 'wallet' &&
          (connected
            ? isShared
              ? `${connected.wallet.name}, a shared test wallet: it signs without asking.`
              : `${connected.wallet.name}, ${shorten(connected.account.address)}. Your wallet asks you to approve twice: the payment, and a message that starts the call. You pay once.`
            : 'You are asked to connect one.')}
      </Choice>
      <Choice name="payer" title="API key" isChosen={payer === 'key'} onChoose={() => onPayer('key')}>
        You paste a key that you made for your programs. It pays within its limits, without asking.
      </Choice>
      {payer === 'wallet' && isShared && <ConnectButton label="Pay from your own wallet" kind="plain" />}
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
                {!key.gas.pays_next_call &&
                  !key.gas.is_sponsored &&
                  ' Its gas balance or its limit of network fees does not cover the next call. Raise it first.'}
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
