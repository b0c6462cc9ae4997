/** Changes a key: its restrictions at the marketplace, its limits on the chain. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyGrant } from '../../../sdk/program/program.ts';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SignDialog } from '../../parts/sign.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Button, Input, Note } from '../../parts/ui.tsx';
import { call, explain } from '../../service.ts';
import {
  AddressField,
  AgentsField,
  addressesError,
  agentsError,
  CORRECT_FIRST,
  GasField,
  LimitFields,
  type LimitTexts,
  listOf,
  readLimitTexts,
  ScopeFields,
  textsOf,
} from './fields.tsx';
import type { WalletMoney } from './money.ts';

const DAY_SECONDS = 86_400;

interface ChangeProps {
  apiKey: KeySummary;
  grant: KeyGrant | undefined;
  money: WalletMoney;
  onClose(): void;
}

/** Changes scopes, addresses, agents and expiry at the marketplace, from the next request on. Needs no signature. */
export function RestrictDialog({ apiKey, grant, onClose }: Omit<ChangeProps, 'money'>) {
  const notify = useNotify();
  const queries = useQueryClient();
  const [scopes, setScopes] = useState([...apiKey.scopes]);
  const [addresses, setAddresses] = useState(apiKey.allowed_ips?.join('\n') ?? '');
  const [agents, setAgents] = useState(apiKey.allowed_agents?.join('\n') ?? '');
  const ownEnd = ownEndOf(apiKey, grant);
  const [end, setEnd] = useState(ownEnd ? toLocal(ownEnd) : '');
  const allowedIps = listOf(addresses);
  const allowedAgents = listOf(agents);
  const endError =
    end !== '' && !(Date.parse(end) > Date.now()) ? 'It must be in the future. To end the key now, revoke it.' : null;
  const isEndChanged = end !== (ownEnd ? toLocal(ownEnd) : '');
  const change = useMutation({
    mutationFn: () =>
      call('keys.update', {
        key_id: apiKey.key_id,
        scopes,
        allowed_ips: allowedIps,
        allowed_agents: allowedAgents,
        ...(isEndChanged && { expires_at: end === '' ? null : new Date(end).toISOString() }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries();
      notify('The key is changed', 'The change applies from the next request on.');
      onClose();
    },
  });
  const hasErrors =
    scopes.length === 0 ||
    addressesError(allowedIps) !== null ||
    agentsError(allowedAgents) !== null ||
    (isEndChanged && endError !== null);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`What "${apiKey.name}" may do`}
      about="The marketplace enforces this from the next request on. It needs no signature; the limits on the chain stay as they are."
      mayClose={!change.isPending}
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <ScopeFields scopes={scopes} onChange={setScopes} />
        <AddressField text={addresses} onChange={setAddresses} />
        <AgentsField text={agents} onChange={setAgents} />
        <Input
          type="datetime-local"
          label="Ends at"
          hint="In your time zone. Empty: the key ends when its limits on the chain end."
          value={end}
          onChange={(event) => setEnd(event.target.value)}
          error={isEndChanged ? endError : null}
        />
        {change.error && (
          <Note tone="bad" title="It was not changed">
            {explain(change.error)}
          </Note>
        )}
        <div className="flex flex-wrap items-center justify-end gap-2">
          {hasErrors && <p className="mr-auto text-sm text-faint">{CORRECT_FIRST}</p>}
          <Button onClick={onClose} disabled={change.isPending}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" busy={change.isPending} disabled={hasErrors}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The marketplace's expiry; null if there is none, or if it equals the grant's. */
function ownEndOf({ expires_at }: KeySummary, grant: KeyGrant | undefined): string | null {
  if (!expires_at || (grant && Date.parse(expires_at) === Number(grant.expiresAt) * 1_000)) return null;
  return expires_at;
}

/** A time for a datetime-local field: in the visitor's time zone, without an offset. */
function toLocal(at: string): string {
  const time = new Date(at);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function LimitsDialog({ apiKey, grant, money, onClose }: ChangeProps & { grant: KeyGrant }) {
  const notify = useNotify();
  const before = textsOf(grant);
  const [texts, setTexts] = useState<LimitTexts>(before);
  const readings = readLimitTexts(texts, money.limits, true);
  const hasErrors = Object.values(readings).some(({ error }) => error !== null);
  const isSame = JSON.stringify(texts) === JSON.stringify(before);
  return (
    <SignDialog
      open
      onOpenChange={onClose}
      title={`Limits of "${apiKey.name}"`}
      about="The amount already spent still counts. The allowance of all keys does not change."
      confirm="Sign the limits"
      disabled={hasErrors || isSame}
      whyNot={hasErrors ? CORRECT_FIRST : 'Change a limit first.'}
      work={async ({ marketplace, wallet, updateKey, readClock }) => {
        const days = readings.days.value;
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
      onDone={() => {
        notify('The limits are changed');
        onClose();
      }}
    >
      <LimitFields
        texts={texts}
        readings={readings}
        onChange={setTexts}
        end={{ label: 'Ends after, days from now', hint: 'Empty: unchanged' }}
      >
        <GasField
          text={texts.maxGas}
          error={readings.maxGas.error}
          onChange={(maxGas) => setTexts({ ...texts, maxGas })}
        />
      </LimitFields>
    </SignDialog>
  );
}
