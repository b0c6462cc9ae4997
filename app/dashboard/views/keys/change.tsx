/** Changes a key: its restrictions at the marketplace, its limits on the chain. */
import { useState } from 'react';
import type { GrantFields } from '../../../sdk/receipt/onChain.ts';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { ActDialog } from '../../parts/act.tsx';
import { DAY_SECONDS } from '../../parts/days.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { Input } from '../../parts/ui.tsx';
import { call } from '../../service.ts';
import {
  Advanced,
  CORRECT_FIRST,
  GasLimit,
  type LimitTexts,
  ListField,
  readLimitTexts,
  ScopeFields,
  SpendFields,
  textsOf,
  useRestrictions,
} from './fields.tsx';
import type { WalletMoney } from './money.ts';

interface ChangeProps {
  apiKey: KeySummary;
  grant: GrantFields | undefined;
  money: WalletMoney;
  onClose(): void;
}

/** Changes scopes, addresses, agents and expiry at the marketplace, from the next request on. Needs no signature. */
export function RestrictDialog({ apiKey, grant, onClose }: Omit<ChangeProps, 'money'>) {
  const restrictions = useRestrictions(apiKey);
  const { scopes, allowedIps, allowedAgents } = restrictions;
  const ownEnd = ownEndOf(apiKey, grant);
  const [end, setEnd] = useState(ownEnd ? toLocal(ownEnd) : '');
  const endError =
    end !== '' && !(Date.parse(end) > Date.now()) ? 'It must be in the future. To end the key now, revoke it.' : null;
  const isEndChanged = end !== (ownEnd ? toLocal(ownEnd) : '');
  const hasErrors = scopes.length === 0 || restrictions.hasListErrors || (isEndChanged && endError !== null);
  return (
    <ActDialog
      title={`What "${apiKey.name}" may do`}
      about="The marketplace enforces this from the next request on. It needs no signature; what the key may spend stays as it is."
      confirm="Save"
      disabled={hasErrors}
      whyNot={CORRECT_FIRST}
      failed="It was not changed"
      work={() =>
        call('keys.update', {
          key_id: apiKey.key_id,
          scopes,
          allowed_ips: allowedIps,
          allowed_agents: allowedAgents,
          ...(isEndChanged && { expires_at: end === '' ? null : new Date(end).toISOString() }),
        })
      }
      done={() => ['The key is changed', 'The change applies from the next request on.']}
      onClose={onClose}
    >
      <ScopeFields {...restrictions.fieldsOfScopes} />
      <ListField {...restrictions.fieldOf('allowed_ips')} />
      <ListField {...restrictions.fieldOf('allowed_agents')} />
      <Input
        type="datetime-local"
        label="Ends at"
        hint="In your time zone. Empty: the key ends when its spending limits end."
        value={end}
        onChange={(event) => setEnd(event.target.value)}
        error={isEndChanged ? endError : null}
      />
    </ActDialog>
  );
}

/** The marketplace's expiry; null if there is none, or if it equals the grant's. */
function ownEndOf({ expires_at }: KeySummary, grant: GrantFields | undefined): string | null {
  if (!expires_at || (grant && Date.parse(expires_at) === Number(grant.expiresAt) * 1_000)) return null;
  return expires_at;
}

/** A time for a datetime-local field: in the visitor's time zone, without an offset. */
function toLocal(at: string): string {
  const time = new Date(at);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function LimitsDialog({ apiKey, grant, money, onClose }: ChangeProps & { grant: GrantFields }) {
  const before = textsOf(grant);
  const [texts, setTexts] = useState<LimitTexts>(before);
  const readings = readLimitTexts(texts, money.limits, true);
  const hasErrors = Object.values(readings).some(({ error }) => error !== null);
  const { value: days } = readings.days;
  const grantEnd = days ? (money.now + days * DAY_SECONDS) * 1_000 : Number(grant.expiresAt) * 1_000;
  const ownEnd = ownEndOf(apiKey, grant);
  const reach =
    days === undefined
      ? null
      : {
          agents: apiKey.allowed_agents,
          ips: apiKey.allowed_ips,
          endsAt: ownEnd ? Date.parse(ownEnd) : null,
          until: grantEnd,
        };
  const isSame = JSON.stringify(texts) === JSON.stringify(before);
  return (
    <SignDialog
      title={`What "${apiKey.name}" may spend`}
      about="The amount already spent still counts. The allowance of all keys does not change."
      doing="Changing the limits"
      confirm="Sign the limits"
      disabled={hasErrors || isSame}
      whyNot={hasErrors ? CORRECT_FIRST : 'Change a limit first.'}
      work={async ({ marketplace, wallet, updateKey, readClock }) => {
        const expiresAt = days
          ? (await readClock(marketplace.connection)) + BigInt(days * DAY_SECONDS)
          : grant.expiresAt;
        const change = {
          perExecutionMax: readings.perExecution.value!,
          periodMax: readings.perPeriod.value!,
          totalMax: readings.total.value!,
          periodSeconds: Number(texts.periodSeconds),
          maxGasLamports: readings.maxGas.value!,
          expiresAt,
        };
        return updateKey(marketplace, { wallet, keyId: apiKey.key_id, change });
      }}
      done={() => ['The limits are changed']}
      onClose={onClose}
    >
      <SpendFields
        texts={texts}
        readings={readings}
        onChange={setTexts}
        reach={reach}
        periodHint="Another length starts now"
        end={{ label: 'Ends after, days from now', hint: 'Empty: unchanged' }}
      />
      <Advanced about="network fees" hasErrors={readings.maxGas.error !== null}>
        <GasLimit texts={texts} readings={readings} onChange={setTexts} />
      </Advanced>
    </SignDialog>
  );
}
