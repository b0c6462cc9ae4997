/** Creates a key: limits, allowance and network fees with one signature; then the marketplace learns the key's hash. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FIRST_GAS, lastingAllowance } from '../../../sdk/wallet/usualAmounts.ts';
import { greatest } from '../../../sdk/wire/amounts.ts';
import { DEFAULT_SCOPES, type KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { formatSol, parseSol } from '../../../sdk/wire/sol.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { type Reading, read } from '../../parts/reading.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { SettingsTrouble } from '../../parts/trouble.tsx';
import { Checkbox, Input, Note } from '../../parts/ui.tsx';
import { formatAmount, formatCount, Id } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import {
  Advanced,
  CORRECT_FIRST,
  GasLimit,
  ListField,
  listError,
  listOf,
  nameError,
  readLimitTexts,
  ScopeFields,
  SpendFields,
  USUAL_LIMITS,
} from './fields.tsx';
import { keyCost, type MadeKey, makeKey } from './makeKey.ts';
import { callsPaid, OPTIONAL_GAS, spendableOf, type WalletMoney } from './money.ts';
import { shownAmount } from './wallet.tsx';

interface CreateDialogProps {
  open: boolean;
  money: WalletMoney;
  title?: string;
  confirm?: string;
  initialName?: string;
  onClose(): void;
  onMade(made: MadeKey): void;
}

export function CreateDialog(props: CreateDialogProps) {
  const { open, money, title = 'Create an API key', confirm = 'Sign and create', initialName = '' } = props;
  const { onClose, onMade } = props;
  const [name, setName] = useState(initialName);
  const [scopes, setScopes] = useState<KeyScope[]>([...DEFAULT_SCOPES]);
  const [limits, setLimits] = useState({ ...USUAL_LIMITS, maxGas: String(money.limits.usualGasPerCall) });
  const [addresses, setAddresses] = useState('');
  const [agents, setAgents] = useState('');
  // Undefined until it is known.
  const isSponsored = useQuery(configQuery).data?.is_sponsored;
  const [typedGas, setGas] = useState<string | null>(null);
  const gas = typedGas ?? (isSponsored || money.gas > 0n ? '0' : formatSol(FIRST_GAS));
  const [allowanceText, setAllowanceText] = useState('');
  const [mayReplace, setMayReplace] = useState(false);

  const readings = readLimitTexts(limits, money.limits);
  const lamports = read(() => readGas(gas, money));
  const cost = keyCost(money, lamports.value);
  const allowance = read(() => readAllowance(allowanceText, money, readings.total.value ?? 0n));
  const allowedIps = listOf(addresses);
  const allowedAgents = listOf(agents);
  const hasAdvancedErrors =
    listError('allowed_ips', allowedIps) !== null ||
    listError('allowed_agents', allowedAgents) !== null ||
    lamports.error !== null ||
    allowance.error !== null ||
    readings.maxGas.error !== null;
  const hasErrors =
    nameError(name) !== null ||
    scopes.length === 0 ||
    Object.values(readings).some(({ error }) => error !== null) ||
    hasAdvancedErrors;
  const isBlocked = money.balance === null || (money.otherDelegate !== null && !mayReplace);

  const whyNot = whyNotYet({
    name,
    hasErrors,
    isBlocked,
    hasAccount: money.balance !== null,
    isRead: isSponsored !== undefined,
  });

  return (
    <>
      <AskBeforeLeaving when={open && name !== ''} title="Leave without the key?">
        The key is not created yet. Your input is deleted if you leave.
      </AskBeforeLeaving>
      {open && (
        <SignDialog
          title={title}
          about="Your USDC stays in your wallet until a call is paid. The chain enforces what the key may spend."
          rows={lamports.error === null && isSponsored !== undefined ? cost.rows : []}
          pays={cost.total}
          doing="Setting what the key may spend"
          spends={cost}
          confirm={confirm}
          disabled={hasErrors || isBlocked || isSponsored === undefined}
          whyNot={whyNot}
          work={(signing) =>
            makeKey(signing, {
              name,
              scopes,
              readings,
              allowedIps,
              allowedAgents,
              mayReplace,
              periodSeconds: Number(limits.periodSeconds),
              lamports: lamports.value!,
              allowance: allowance.value!,
            })
          }
          onClose={onClose}
          onDone={(made) => {
            setName(initialName);
            setAddresses('');
            setAgents('');
            setGas(null);
            setAllowanceText('');
            onMade(made);
          }}
        >
          <Input
            label="Name"
            placeholder="Such as laptop or nightly-report"
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={name === '' ? null : nameError(name)}
            required
          />
          <SpendFields
            texts={limits}
            readings={readings}
            onChange={setLimits}
            reach={reachOf(money, readings.days.value, allowedAgents, allowedIps)}
            end={{ label: 'Ends after, days', hint: `At most ${money.limits.grantDays}` }}
          />
          <ScopeFields scopes={scopes} onChange={setScopes} />
          <Advanced about="agents, IP addresses, network fees, allowance" hasErrors={hasAdvancedErrors}>
            <GasLimit texts={limits} readings={readings} onChange={setLimits} />
            <ListField name="allowed_ips" text={addresses} onChange={setAddresses} />
            <ListField name="allowed_agents" text={agents} onChange={setAgents} />
            <MoneyFields
              {...{ money, gas, allowanceText }}
              isSponsored={isSponsored ?? false}
              gasAdded={lamports.value}
              gasError={lamports.error}
              allowance={allowance}
              onGas={setGas}
              onAllowance={setAllowanceText}
            />
          </Advanced>
          <SettingsTrouble />
          {money.balance === null && (
            <Note tone="warn" title="This wallet has no USDC account yet">
              Send USDC to it first: a key spends from the wallet’s own USDC.
            </Note>
          )}
          {money.otherDelegate && (
            <ReplaceDelegate delegate={money.otherDelegate} value={mayReplace} onChange={setMayReplace} />
          )}
        </SignDialog>
      )}
    </>
  );
}

/** Null while the days are not valid. */
const reachOf = (
  { now }: WalletMoney,
  days: number | null | undefined,
  agents: string[] | null,
  ips: string[] | null,
) => (days ? { agents, ips, endsAt: null, until: (now + days * DAY_SECONDS) * 1_000 } : null);

interface Missing {
  name: string;
  hasErrors: boolean;
  isBlocked: boolean;
  hasAccount: boolean;
  /** The settings of the marketplace are read. */
  isRead: boolean;
}

function whyNotYet({ name, hasErrors, isBlocked, hasAccount, isRead }: Missing): string | null {
  if (name === '') return 'Enter a name first.';
  if (hasErrors) return CORRECT_FIRST;
  if (!hasAccount) return 'The wallet needs a USDC account first.';
  if (isBlocked) return 'Agree to replace the other program’s allowance first.';
  return isRead ? null : 'Reading the settings …';
}

interface MoneyFieldsProps {
  money: WalletMoney;
  isSponsored: boolean;
  /** Lamports; undefined if the text is wrong. */
  gasAdded: bigint | undefined;
  /** SOL. */
  gas: string;
  gasError: string | null;
  onGas(text: string): void;
  allowanceText: string;
  allowance: Reading<bigint>;
  onAllowance(text: string): void;
}

/** The network fees paid in advance, and the allowance that the token program knows for all keys together. */
function MoneyFields({
  money,
  isSponsored,
  gas,
  gasAdded,
  gasError,
  onGas,
  allowanceText,
  allowance,
  onAllowance,
}: MoneyFieldsProps) {
  const present = shownAmount(money.allowance);
  const after =
    allowance.value === undefined || allowance.value === money.allowance
      ? `Stays at ${present}`
      : `${shownAmount(allowance.value)}, now ${present}`;
  return (
    <>
      <Input
        label="Network fees in advance, SOL"
        hint={gasHint(money, gasAdded, isSponsored)}
        inputMode="decimal"
        value={gas}
        onChange={(event) => onGas(event.target.value)}
        error={gasError}
      />
      <Input
        label="Allowance of all keys, USDC"
        hint={`${after}; refunded calls use it up too. Empty: twice what all keys may still spend, or the present one if it is higher.`}
        inputMode="decimal"
        value={allowanceText}
        onChange={(event) => onAllowance(event.target.value)}
        error={allowance.error}
      />
    </>
  );
}

function gasHint(money: WalletMoney, added: bigint | undefined, isSponsored: boolean): string {
  if (isSponsored && !added) return OPTIONAL_GAS;
  const about = 'Added to the wallet’s gas balance, which pays the network fees of every call.';
  if (added === undefined) return about;
  return `${about} With it, for about ${formatCount(callsPaid({ ...money, gas: money.gas + added }))} calls.`;
}

interface ReplaceDelegateProps {
  delegate: NonNullable<WalletMoney['otherDelegate']>;
  value: boolean;
  onChange(mayReplace: boolean): void;
}

function ReplaceDelegate({ delegate, value, onChange }: ReplaceDelegateProps) {
  return (
    <Checkbox
      checked={value}
      onChange={(event) => onChange(event.target.checked)}
      label="Replace another program’s allowance"
      hint={
        <>
          A USDC account can have only one delegate. <Id value={delegate.address} kind="address" /> is the present one
          and loses its allowance of {formatAmount(toUsdc(delegate.allowance))}.
        </>
      }
    />
  );
}

/** The allowance as typed; without a text, one that outlasts the limits of all keys, or the present one. */
function readAllowance(text: string, money: WalletMoney, total: bigint): bigint {
  if (text.trim() !== '') return parseUsdc(text.trim());
  return greatest(money.allowance, lastingAllowance(spendableOf(money) + total));
}

function readGas(text: string, { gas, leastGas }: WalletMoney): bigint {
  const lamports = parseSol(text.trim());
  if (lamports > 0n && gas + lamports < leastGas) {
    throw new RangeError(`A gas balance must be at least ${formatSol(leastGas)} SOL.`);
  }
  return lamports;
}
