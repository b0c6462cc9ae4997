/** Creates a key: limits, allowance and first gas with one signature; then the marketplace learns the key's hash. */
import { useState } from 'react';
import { FIRST_GAS, lastingAllowance } from '../../../sdk/wallet/usualAmounts.ts';
import { greatest } from '../../../sdk/wire/amounts.ts';
import { DEFAULT_SCOPES, type KeyScope } from '../../../sdk/wire/keyScopes.ts';
import { formatSol, parseSol } from '../../../sdk/wire/sol.ts';
import { parseUsdc, toUsdc } from '../../../sdk/wire/usdc.ts';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { Checkbox, Input, Note } from '../../parts/ui.tsx';
import { formatAmount, Id } from '../../parts/values.tsx';
import {
  CORRECT_FIRST,
  GasField,
  LimitFields,
  type LimitReadings,
  type LimitTexts,
  ListField,
  listError,
  listOf,
  nameError,
  read,
  readLimitTexts,
  ScopeFields,
  USUAL_LIMITS,
} from './fields.tsx';
import { type MadeKey, makeKey } from './makeKey.ts';
import { spendableOf, type WalletMoney } from './money.ts';
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
  const [gas, setGas] = useState(money.gas > 0n ? '0' : formatSol(FIRST_GAS));
  const [allowanceText, setAllowanceText] = useState('');
  const [mayReplace, setMayReplace] = useState(false);

  const readings = readLimitTexts(limits, money.limits);
  const lamports = read(() => readGas(gas, money));
  const allowance = read(() => readAllowance(allowanceText, money, readings.total.value ?? 0n));
  const allowedIps = listOf(addresses);
  const allowedAgents = listOf(agents);
  const hasErrors =
    nameError(name) !== null ||
    scopes.length === 0 ||
    listError('allowed_ips', allowedIps) !== null ||
    listError('allowed_agents', allowedAgents) !== null ||
    lamports.error !== null ||
    allowance.error !== null ||
    Object.values(readings).some(({ error }) => error !== null);
  const isBlocked = money.balance === null || (money.otherDelegate !== null && !mayReplace);

  const whyNot = whyNotYet({ name, hasErrors, isBlocked, hasAccount: money.balance !== null });

  const work = (signing: Signing) =>
    makeKey(signing, {
      name,
      scopes,
      readings,
      periodSeconds: Number(limits.periodSeconds),
      lamports: lamports.value!,
      allowance: allowance.value!,
      allowedIps,
      allowedAgents,
      mayReplace,
    });

  return (
    <>
      <AskBeforeLeaving when={open && name !== ''} title="Leave without the key?">
        The key is not created yet. Your input is deleted if you leave.
      </AskBeforeLeaving>
      {open && (
        <SignDialog
          title={title}
          about="One signature sets the limits, the allowance and the first network fees. Your USDC stays in your wallet until a call is paid."
          rows={hasErrors ? [] : signedRows(money, allowance.value!, lamports.value!)}
          confirm={confirm}
          disabled={hasErrors || isBlocked}
          whyNot={whyNot}
          work={work}
          onClose={onClose}
          onDone={(made) => {
            setName(initialName);
            setAddresses('');
            setAgents('');
            setAllowanceText('');
            onMade(made);
          }}
        >
          <Input
            label="Name"
            placeholder="Such as laptop or nightly-report"
            hint={`${name.length} of 64 characters`}
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={name === '' ? null : nameError(name)}
            required
          />
          <ScopeFields scopes={scopes} onChange={setScopes} />
          <LimitFields
            texts={limits}
            readings={readings}
            onChange={setLimits}
            end={{ label: 'Ends after, days', hint: `At most ${money.limits.grantDays}` }}
          >
            <FirstGasField text={gas} error={lamports.error} onChange={setGas} />
          </LimitFields>
          <MoreRestrictions
            {...{ addresses, agents, limits, readings, allowanceText }}
            allowanceError={allowance.error}
            onAllowance={setAllowanceText}
            onAddresses={setAddresses}
            onAgents={setAgents}
            onLimits={setLimits}
          />
          {money.balance === null && (
            <Note tone="warn" title="This wallet has no USDC account yet">
              Send USDC to it first: a key spends from the wallet's own USDC.
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

interface FirstGasFieldProps {
  /** SOL. */
  text: string;
  error: string | null;
  onChange(text: string): void;
}

function FirstGasField({ text, error, onChange }: FirstGasFieldProps) {
  return (
    <Input
      label="First gas, SOL"
      hint="Added to the wallet's gas balance, which every call needs: 0.0045 pays for about 200 calls, 0 adds nothing"
      inputMode="decimal"
      value={text}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    />
  );
}

interface Missing {
  name: string;
  hasErrors: boolean;
  isBlocked: boolean;
  hasAccount: boolean;
}

function whyNotYet({ name, hasErrors, isBlocked, hasAccount }: Missing): string | null {
  if (name === '') return 'Enter a name first.';
  if (hasErrors) return CORRECT_FIRST;
  if (!hasAccount) return 'The wallet needs a USDC account first.';
  return isBlocked ? "Agree to replace the other program's allowance first." : null;
}

interface MoreRestrictionsProps {
  addresses: string;
  onAddresses(addresses: string): void;
  agents: string;
  onAgents(agents: string): void;
  limits: LimitTexts;
  readings: LimitReadings;
  onLimits(limits: LimitTexts): void;
  allowanceText: string;
  allowanceError: string | null;
  onAllowance(text: string): void;
}

function MoreRestrictions(props: MoreRestrictionsProps) {
  const { addresses, onAddresses, agents, onAgents, limits, readings, onLimits } = props;
  return (
    <details>
      <summary className="text-sm font-medium">More restrictions</summary>
      <div className="mt-4 grid gap-4">
        <ListField name="allowed_ips" text={addresses} onChange={onAddresses} />
        <ListField name="allowed_agents" text={agents} onChange={onAgents} />
        <GasField
          text={limits.maxGas}
          error={readings.maxGas.error}
          onChange={(maxGas) => onLimits({ ...limits, maxGas })}
        />
        <Input
          label="Allowance of all keys, USDC"
          hint="Each call takes its price from it, and a refund does not give it back. Empty: twice what all keys may still spend, or the present one if it is higher."
          inputMode="decimal"
          value={props.allowanceText}
          onChange={(event) => props.onAllowance(event.target.value)}
          error={props.allowanceError}
        />
      </div>
    </details>
  );
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
      label="Replace another program's allowance"
      hint={
        <>
          A USDC account can have only one delegate. <Id value={delegate.address} kind="address" /> is the present one
          and loses its allowance of {formatAmount(toUsdc(delegate.allowance))}.
        </>
      }
    />
  );
}

function signedRows(money: WalletMoney, allowance: bigint, lamports: bigint) {
  const present = shownAmount(money.allowance);
  return [
    [
      'Allowance of all keys',
      money.allowance === allowance
        ? `stays at ${present}`
        : `${shownAmount(allowance)}, now ${present}; refunded calls use it up too`,
    ],
    ['Added to the gas balance', lamports === 0n ? 'nothing' : `${formatSol(lamports)} SOL, which you can withdraw`],
    ['Refundable deposit', `${formatSol(money.grantDeposit)} SOL, returned when the key's grant is closed`],
  ] as const;
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
