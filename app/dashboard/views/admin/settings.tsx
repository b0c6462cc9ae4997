/** All changes that need the admin's signature: pause of new executions, settings, treasury, and authorities. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ADDRESS } from '../../../sdk/wire/fields.ts';
import { formatUsdc, parseUsdc } from '../../../sdk/wire/usdc.ts';
import { OnThisPage } from '../../parts/onThisPage.tsx';
import { read } from '../../parts/reading.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Card, Facts, Input, withUnit } from '../../parts/ui.tsx';
import { formatAmount, formatSpan, Id, shorten } from '../../parts/values.tsx';
import { stateQuery } from '../../parts/waiting.tsx';
import { changesQuery, configQuery } from '../../service.ts';
import { Changes } from '../terms/changes.tsx';
import { Pause, RelayAuthorities } from '../terms/guardian.tsx';
import { GUARDIAN_POWERS, UpgradeKey } from '../terms/roles.tsx';
import { chainConfigQuery, type Settings } from './chainConfig.ts';
import type { Draft } from './draft.ts';
import { appliedWords, ProposeKey, RaiseDelay } from './propose.tsx';
import { SettingsForm } from './settingsForm.tsx';
import { NextAdmin } from './succession.tsx';
import { Lack, MoveUpgradeKey } from './unprotected.tsx';

/** A setting that protects the marketplace from its admin's key: what it does, and the button that sets it. */
function Protection({ does, button, children }: { does?: ReactNode; button: ReactNode; children: ReactNode }) {
  return (
    <span className="grid justify-items-start gap-1">
      <span className="font-medium">{children}</span>
      {does && <span className="text-faint">{does}</span>}
      <span className="my-1 flex flex-wrap items-center gap-x-3 gap-y-1">{button}</span>
    </span>
  );
}

/** In their order: changes that wait for somebody come first. */
function sectionsOf(pending: number) {
  const changes = { changes: pending > 0 ? `Pending changes (${pending})` : 'Pending changes' };
  return {
    pause: 'New calls',
    ...(pending > 0 && changes),
    protection: 'Guardian and delay',
    fees: 'Fees and rules',
    ...changes,
    treasury: 'Treasury',
    admin: 'Admin',
    relays: 'Relay authorities',
  };
}

export default function SettingsTab({ draft, onDraft }: { draft: Draft | null; onDraft(draft: Draft | null): void }) {
  const query = useQuery(chainConfigQuery);
  const { data: state } = useQuery(stateQuery);
  const { data: pending } = useQuery(changesQuery);
  const { data: service } = useQuery(configQuery);
  const pendingCount = pending?.changes.length ?? 0;
  const isPending = pendingCount > 0;
  const unread = <Unread query={query} what="The settings" className="h-96" />;
  if (!query.data) return unread;
  const { config, limits, mustWait } = query.data;
  const delay = config.admin_delay_seconds;
  return (
    <div className="grid gap-6">
      {unread}
      <OnThisPage sections={sectionsOf(pendingCount)} isRead className="-mb-1" />
      <Card id="pause">
        <Pause of="admin" config={config} />
      </Card>
      {isPending && <Changes />}
      <Card id="protection" className="grid gap-4">
        <div>
          <h2 className="font-semibold">Guardian and delay</h2>
          <p className="mt-1 text-sm text-faint">They limit what somebody who steals your key can do.</p>
        </div>
        <Facts
          rows={[
            [
              'Guardian',
              <Protection
                key="guardian"
                does={GUARDIAN_POWERS}
                button={
                  <ProposeKey
                    button="Propose a guardian …"
                    title={`Propose ${config.guardian ? 'another' : 'a'} guardian`}
                    about={`${appliedWords(delay === 0 ? 0 : delay + limits.guardianChangeSeconds)} Only you can cancel it.`}
                    doing="Proposing the guardian"
                    label="Wallet of the guardian"
                    hint="Kept by another person, or on another machine than your key, and available day and night."
                    taken={[config.admin, config.guardian]}
                    proposal={(guardian) => ({ guardian })}
                  />
                }
              >
                {config.guardian ? <Id value={config.guardian} kind="address" /> : <Lack>No guardian</Lack>}
              </Protection>,
            ],
            [
              'Delay of changes',
              <Protection
                key="delay"
                button={
                  <>
                    <RaiseDelay config={config} limits={limits} />
                    It cannot be lowered afterwards.
                  </>
                }
              >
                {delay === 0 ? <Lack>No delay</Lack> : formatSpan(delay)}
              </Protection>,
            ],
            [
              'Limited by the delay',
              'A new fee, lowest price, bond, collateral or time until a call’s account is closed; a shorter dispute window, higher cap or longer delay; a new admin, guardian or relay authority; the end of the guardian’s pause.',
            ],
            [
              'Limited by neither',
              'Decisions on disputes, badges, stopping calls, updates of the program; refund time, longest timeout, a longer dispute window or lower cap; withdrawals from the treasury, unless the guardian has paused.',
            ],
            service !== undefined && [
              'Upgrade key',
              <UpgradeKey
                key="upgrade"
                config={service}
                warning={
                  <Lack>
                    Neither limits it: it can take escrows and collateral. <MoveUpgradeKey />
                  </Lack>
                }
              />,
            ],
          ]}
        />
      </Card>
      <SettingsForm config={config} limits={limits} mustWait={mustWait} draft={draft} onDraft={onDraft} />
      {!isPending && <Changes />}
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <Treasury config={config} isX402={service?.x402_service_fee_usdc != null} />
        <NextAdmin config={config} />
      </div>
      <Card id="relays" className="grid gap-4">
        <RelayAuthorities config={config} ours={state?.authorities.find(({ is_ours }) => is_ours)?.address}>
          Removing one takes effect at once and cancels every proposed change of settings.
        </RelayAuthorities>
        <div>
          <ProposeKey
            button="Add a relay authority …"
            title="Propose a relay authority"
            about={`${appliedWords(delay)} You ${config.guardian ? 'or the guardian ' : ''}can cancel it. A relay authority settles and refunds calls, and starts calls by API key within the key’s budget.`}
            doing="Proposing the relay authority"
            closed={config.relay_authorities.length >= limits.maxRelayAuthorities}
            label="Address of the relay’s key"
            hint="The relay that uses it pays network fees and deposits from it: send it SOL."
            taken={config.relay_authorities}
            proposal={(key) => ({ addedRelayAuthorities: [key] })}
          />
        </div>
      </Card>
    </div>
  );
}

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

function Treasury({ config, isX402 }: { config: Settings; isX402: boolean }) {
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
        <p className="mt-1 text-sm text-faint">
          It gets the fees of paid calls, {isX402 && 'the service fees of calls by x402, '}and what disputes take above
          the price, once it is no longer kept for callers.
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
