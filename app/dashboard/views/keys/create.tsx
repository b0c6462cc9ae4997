/** Creates a key: limits, allowance and network fees with one signature; then the marketplace learns the key's hash. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FIRST_GAS, lastingAllowance } from '../../../sdk/wallet/usualAmounts.ts';
import { greatest } from '../../../sdk/wire/amounts.ts';
import { DEFAULT_SCOPES } from '../../../sdk/wire/keyScopes.ts';
import { formatSol, parseSol } from '../../../sdk/wire/sol.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { DAY_SECONDS } from '../../parts/days.ts';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { read } from '../../parts/reading.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { SettingsTrouble } from '../../parts/trouble.tsx';
import { Input, Note } from '../../parts/ui.tsx';
import { formatCount, formatLamports } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import {
  Advanced,
  CORRECT_FIRST,
  GasLimit,
  ListField,
  nameError,
  ReplaceDelegate,
  readLimitTexts,
  ScopeFields,
  SpendFields,
  USUAL_LIMITS,
  useRestrictions,
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
  const restrictions = useRestrictions({ scopes: DEFAULT_SCOPES, allowed_ips: null, allowed_agents: null });
  const [limits, setLimits] = useState({ ...USUAL_LIMITS, maxGas: String(money.limits.usualGasPerCall) });
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
  const { scopes, allowedIps, allowedAgents } = restrictions;
  const hasAdvancedErrors =
    restrictions.hasListErrors || lamports.error !== null || allowance.error !== null || readings.maxGas.error !== null;
  const hasErrors =
    nameError(name) !== null ||
    scopes.length === 0 ||
    Object.values(readings).some(({ error }) => error !== null) ||
    hasAdvancedErrors;
  const reach = reachOf(money, readings.days.value, allowedAgents, allowedIps);
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
          about="Your USDC stays in your wallet until a call is paid."
          rows={lamports.error === null && isSponsored !== undefined ? cost.rows : []}
          pays={cost.pays}
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
          onDone={onMade}
        >
          <Input
            label="Name"
            placeholder="Such as laptop or nightly-report"
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={name === '' ? null : nameError(name)}
            required
          />
          <ScopeFields {...restrictions.fieldsOfScopes} />
          <SpendFields
            texts={limits}
            readings={readings}
            onChange={setLimits}
            reach={reach}
            periodHint="Starts with the key, not at midnight"
            end={{ label: 'Ends after, days', hint: `At most ${money.limits.grantDays}` }}
          />
          <Advanced about="agents, IP addresses, network fees, allowance" hasErrors={hasAdvancedErrors}>
            <GasLimit texts={limits} readings={readings} onChange={setLimits} />
            <ListField {...restrictions.fieldOf('allowed_ips')} />
            <ListField {...restrictions.fieldOf('allowed_agents')} />
            <Input
              label="Network fees in advance, SOL"
              hint={gasHint(money, lamports.value, isSponsored ?? false)}
              inputMode="decimal"
              value={gas}
              onChange={(event) => setGas(event.target.value)}
              error={lamports.error}
            />
            <Input
              label="Allowance of all keys, USDC"
              hint={allowanceHint(money, allowance.value)}
              inputMode="decimal"
              value={allowanceText}
              onChange={(event) => setAllowanceText(event.target.value)}
              error={allowance.error}
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

/** The allowance that the token program knows for all keys together. */
function allowanceHint(money: WalletMoney, allowance: bigint | undefined): string {
  const present = shownAmount(money.allowance);
  const after =
    allowance === undefined || allowance === money.allowance
      ? `Stays at ${present}`
      : `${shownAmount(allowance)}, now ${present}`;
  return `${after}; refunded calls use it up too. Empty: twice what all keys may still spend, or the present one if it is higher.`;
}

function gasHint(money: WalletMoney, added: bigint | undefined, isSponsored: boolean): string {
  if (isSponsored && !added) return OPTIONAL_GAS;
  const about = 'Added to the wallet’s gas balance, which pays the network fees of every call.';
  if (added === undefined) return about;
  return `${about} With it, for about ${formatCount(callsPaid({ ...money, gas: money.gas + added }))} calls.`;
}

/** The allowance as typed; without a text, one that outlasts the limits of all keys, or the present one. */
function readAllowance(text: string, money: WalletMoney, total: bigint): bigint {
  if (text.trim() !== '') return parseUsdc(text.trim());
  return greatest(money.allowance, lastingAllowance(spendableOf(money) + total));
}

function readGas(text: string, { gas, leastGas }: WalletMoney): bigint {
  const lamports = parseSol(text.trim());
  if (lamports > 0n && gas + lamports < leastGas) {
    throw new RangeError(`A gas balance must be at least ${formatLamports(leastGas)}.`);
  }
  return lamports;
}
