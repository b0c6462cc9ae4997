/** Pending changes: each with its values, its time, and the buttons to apply or cancel it. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ChangedSetting, PendingChanges } from '../../../sdk/wire/operationProcedures.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Badge, Card, Facts } from '../../parts/ui.tsx';
import { formatAmount, formatLamports, formatSpan, Id, Time } from '../../parts/values.tsx';
import { changesQuery, configQuery } from '../../service.ts';
import { CHANGE_SECONDS, GUARDIAN_CHANGE_SECONDS } from '../../wallet/programTerms.ts';
import { useSession } from '../../wallet/session.ts';
import { LABELS } from './effects.ts';

type Change = PendingChanges['changes'][number];
type Value = ChangedSetting['before'];

type Tier = { max_price_usdc: number; deposit_usdc: number };
const tierWords = (tiers: readonly Tier[]): string =>
  tiers.map((tier) => `up to ${formatAmount(tier.max_price_usdc)}: ${formatAmount(tier.deposit_usdc)}`).join('; ');

function parseTier(text: string): Tier {
  const [max_price_usdc = 0, deposit_usdc = 0] = text.split(':').map(Number);
  return { max_price_usdc, deposit_usdc };
}

/** Here a list is always a list of tiers: relay authorities have their own row. */
function words({ unit }: ChangedSetting, value: Value): string {
  if (typeof value === 'boolean') return value ? 'set' : 'lifted';
  if (value === null) return 'Nobody';
  if (Array.isArray(value)) return tierWords(value.map(parseTier));
  if (typeof value === 'string') return value;
  if (unit === 'basis_points') return `${value / 100} %`;
  if (unit === 'usdc') return formatAmount(value);
  if (unit === 'lamports') return formatLamports(value);
  if (unit === 'seconds') return formatSpan(value);
  return value === 0 ? 'no cap' : `${value} times the collateral`;
}

/** A pending change can only add relay authorities, so only the added ones are shown. */
function settingRow(setting: ChangedSetting): readonly [string, ReactNode] {
  const { before, after } = setting;
  if (setting.setting === 'relay_authorities') {
    const added = (after as string[]).filter((key) => !(before as string[]).includes(key));
    const keys = added.map((key) => <Id key={key} value={key} kind="address" />);
    return [
      'Added relay authority',
      keys.length > 0 ? <span className="grid gap-1">{keys}</span> : 'it is one already',
    ];
  }
  if (setting.unit === 'address')
    return [
      LABELS[setting.setting],
      <span key="keys" className="flex flex-wrap items-center gap-x-2">
        <Key value={before} /> → <Key value={after} />
      </span>,
    ];
  return [LABELS[setting.setting], `${words(setting, before)} → ${words(setting, after)}`];
}

const Key = ({ value }: { value: Value }) =>
  typeof value === 'string' ? <Id value={value} kind="address" /> : <>Nobody</>;

/** The wallets that can cancel a change; null for anybody. */
function cancellers({ subject, status }: Change, admin: string, guardian: string | null): string[] | null {
  if (status === 'expired' || status === 'cancelled') return null;
  if (subject === 'settings') return guardian ? [admin, guardian] : [admin];
  return subject === 'admin' && guardian ? [guardian] : [admin];
}

/** The changes. Anybody can apply one that is due; a next admin accepts on the admin's page. */
export function Changes() {
  const query = useQuery(changesQuery);
  const { data } = query;
  const { data: config } = useQuery(configQuery);
  const { wallet } = useSession();
  // Changes that were applied or cancelled here: the service's list is some seconds old.
  const [ended, setEnded] = useState<readonly string[]>([]);
  const isAuthority = Boolean(wallet) && (wallet === config?.admin || wallet === data?.guardian);
  const mayCancel = (change: Change): boolean =>
    Boolean(wallet && config && data) && (cancellers(change, config!.admin, data!.guardian)?.includes(wallet!) ?? true);
  const changes = data?.changes.filter(({ change_id }) => !ended.includes(change_id));
  const hasSettings = changes?.some(({ subject, status }) => subject === 'settings' && status !== 'cancelled');
  return (
    <Card id="changes" className="grid gap-3" aria-label="Pending changes">
      <div>
        <h2 className="font-semibold">Pending changes</h2>
        <p className="mt-1 text-sm text-faint">
          {data && delayWords(data.admin_delay_seconds)}
          {data &&
            data.admin_delay_seconds > 0 &&
            ` Once a change is due, anybody can apply it for ${TO_APPLY}; a new admin must accept it. After that it can only be cancelled.`}
        </p>
      </div>
      {isAuthority && hasSettings && <CancelAll />}
      <Unread query={query} what="The changes" className="h-32" />
      {changes?.length === 0 && (
        <p className="text-sm">{data?.admin_delay_seconds === 0 ? 'Nothing is proposed.' : 'No pending changes'}</p>
      )}
      {changes?.map((change) => (
        <ChangeCard
          key={change.change}
          change={change}
          mayCancel={mayCancel(change)}
          onEnded={() => setEnded((before) => [...before, change.change_id])}
        />
      ))}
    </Card>
  );
}

/** Cancels all pending changes of settings in one transaction; their accounts stay and are shown as cancelled. */
function CancelAll() {
  return (
    <div>
      <SignButton
        button="Cancel all changes of settings …"
        kind="danger"
        title="Cancel all pending changes of settings?"
        about="None of them can be applied any more. Changes of admin and guardian stay pending."
        doing="Cancelling the changes"
        confirm="Sign and cancel all"
        danger
        work={({ marketplace, wallet, cancelAllPending }) => cancelAllPending(marketplace, wallet)}
        done={() => ['All pending changes of settings are cancelled']}
      />
    </div>
  );
}

/** Words for a change that can never be applied. */
const OVER: Partial<Record<Change['status'], string>> = { expired: 'Expired', cancelled: 'Cancelled with others' };

interface ChangeCardProps {
  change: Change;
  mayCancel: boolean;
  /** Called after it was applied or cancelled. */
  onEnded(): void;
}

function ChangeCard({ change, mayCancel, onEnded }: ChangeCardProps) {
  const left = change.applicable_in_seconds;
  const id = BigInt(change.change_id);
  const rows = change.settings.map(settingRow);
  return (
    <div className="grid gap-4 rounded-lg border border-line p-4">
      <Facts
        rows={[
          ...rows,
          ['Announced', <Time key="proposed" at={change.proposed_at} />],
          [
            change.subject === 'admin' ? 'Can be accepted' : 'Can be applied',
            <span key="applicable" className="flex flex-wrap items-center gap-2">
              <Time at={change.applicable_at} />
              {OVER[change.status] ? (
                <Badge>{OVER[change.status]}</Badge>
              ) : (
                <Badge tone={left > 0 ? 'warn' : 'bad'}>{left > 0 ? `In ${formatSpan(left)}` : 'Now'}</Badge>
              )}
            </span>,
          ],
          ['Expires', <Time key="expires" at={change.expires_at} />],
          ['Account', <Id key="account" value={change.change} kind="address" />],
        ]}
      />
      <div className="flex flex-wrap gap-2">
        {change.status === 'applicable' && change.subject !== 'admin' && (
          <SignButton
            button="Apply …"
            kind="primary"
            title="Apply this change?"
            about="It takes effect as soon as the transaction is confirmed. Its deposit goes back to the wallet that announced it."
            rows={rows}
            doing="Applying the change"
            confirm="Sign and apply"
            work={({ marketplace, wallet, applyPending }) => applyPending(marketplace, wallet, id)}
            done={() => ['The change is applied']}
            onDone={onEnded}
          />
        )}
        {mayCancel && (
          <SignButton
            button="Cancel the change …"
            title="Cancel this change?"
            about="Nothing changes. If the admin announces it again, the full delay applies again."
            rows={rows}
            doing="Cancelling the change"
            confirm="Sign and cancel"
            danger
            work={({ marketplace, wallet, cancelPending }) => cancelPending(marketplace, wallet, id)}
            done={() => ['The change is cancelled']}
            onDone={onEnded}
          />
        )}
      </div>
    </div>
  );
}

const TO_APPLY = formatSpan(CHANGE_SECONDS);

/** Sentences about the delay of changes. */
export const delayWords = (seconds: number): string =>
  seconds === 0
    ? `Changes of settings apply as soon as the admin signs them, without notice. A new admin, guardian or relay authority is proposed first and shown here; if it is not accepted or applied within ${TO_APPLY}, the proposal lapses.`
    : `A change that gives a key more rights, or that raises costs for callers or creators, can be applied only after ${formatSpan(seconds)}, a new guardian ${formatSpan(GUARDIAN_CHANGE_SECONDS)} later. Refund time, longest timeout, a longer dispute window and a lower cap on calls change at once.`;
