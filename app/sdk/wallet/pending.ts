/** Describes pending changes of the settings: each value before and after, with its unit. Part of changes.ts. */
import type { PublicKey } from '@solana/web3.js';
import {
  type Config,
  type ConfigChange,
  constants,
  type PendingChange,
  relayAuthoritiesOf,
} from '../program/program.ts';
import type { ChangedSetting, PendingChanges } from '../wire/operationProcedures.ts';
import { toTime } from '../wire/time.ts';
import { formatUsdc, toUsdc } from '../wire/usdc.ts';
import { formatKey } from './format.ts';

/** A pending change's account. */
export interface FoundChange {
  address: PublicKey;
  fields: PendingChange;
}

/** Unix seconds from which the change can only be cancelled. */
export const expiryOf = ({ dueAt }: PendingChange): bigint => dueAt + BigInt(constants.changeSeconds);

type Change = PendingChanges['changes'][number];

/** A change of admin or guardian holds nothing else. */
export function subjectOf({ admin, guardian }: Pick<ConfigChange, 'admin' | 'guardian'>): Change['subject'] {
  if (admin) return 'admin';
  return guardian ? 'guardian' : 'settings';
}

/** The program has the same rules (`PendingChange::require_applicable`). `now` is the chain's clock, unix seconds. */
export function statusOf(config: Config, { details, proposedAt, dueAt }: PendingChange, now: bigint): Change['status'] {
  const cancelledUntil = subjectOf(details) === 'settings' ? config.changesValidFrom : config.adminSince;
  if (proposedAt <= cancelledUntil) return 'cancelled';
  if (now < dueAt) return 'waiting';
  return now < dueAt + BigInt(constants.changeSeconds) ? 'applicable' : 'expired';
}

/** All pending changes, the first applicable one first. `now` is the chain's clock, unix seconds. */
export function describeChanges(config: Config, found: readonly FoundChange[], now: bigint): PendingChanges {
  const changes = [...found].sort((one, other) => Number(one.fields.dueAt - other.fields.dueAt));
  return {
    guardian: formatKey(config.guardian),
    admin_delay_seconds: config.adminDelaySeconds,
    changes: changes.map(({ address, fields }) => ({
      change: address.toBase58(),
      change_id: fields.changeId.toString(),
      subject: subjectOf(fields.details),
      status: statusOf(config, fields, now),
      settings: settingsOf(config, fields.details),
      proposed_at: toTime(fields.proposedAt),
      applicable_at: toTime(fields.dueAt),
      applicable_in_seconds: Number(fields.dueAt > now ? fields.dueAt - now : 0n),
      expires_at: toTime(expiryOf(fields)),
    })),
  };
}

type Value = ChangedSetting['before'];
type Row = [setting: ChangedSetting['setting'], unit: ChangedSetting['unit'], before: Value, after: Value | null];

/** The changed settings. A change may set a value that is already in force. */
function settingsOf(config: Config, change: ConfigChange): ChangedSetting[] {
  const { settings } = change;
  const relays = relayAuthoritiesOf(config).map(String);
  const added = change.addedRelayAuthorities.map(String).filter((key) => !relays.includes(key));
  const tiers = config.tiers.slice(0, config.tierCount);
  const rows: Row[] = [
    ['guardian_pause', null, config.guardianPaused, settings.liftGuardianPause ? false : null],
    ['fee', 'basis_points', config.feeBps, settings.feeBps],
    ['min_price', 'usdc', toUsdc(config.minPrice), map(settings.minPrice, toUsdc)],
    ['dispute_bond', 'lamports', Number(config.disputeBondLamports), map(settings.disputeBondLamports, Number)],
    ['dispute_window', 'seconds', config.disputeWindowSeconds, settings.disputeWindowSeconds],
    ['refund_grace', 'seconds', config.refundGraceSeconds, settings.refundGraceSeconds],
    ['max_timeout', 'seconds', config.maxTimeoutSeconds, settings.maxTimeoutSeconds],
    ['record_time', 'seconds', config.recordSeconds, settings.recordSeconds],
    ['exposure_multiple', 'times_collateral', config.exposureMultiple, settings.exposureMultiple],
    ['admin_delay', 'seconds', config.adminDelaySeconds, settings.adminDelaySeconds],
    ['collateral_tiers', 'usdc', tiersOf(tiers), map(settings.tiers, tiersOf)],
    ['relay_authorities', 'address', relays, change.addedRelayAuthorities.length > 0 ? [...relays, ...added] : null],
  ];
  const keys: ['guardian' | 'admin', PublicKey, PublicKey | null][] = [
    ['guardian', config.guardian, change.guardian],
    ['admin', config.admin, change.admin],
  ];
  return [
    ...rows.flatMap(([setting, unit, before, after]) => (after === null ? [] : [{ setting, unit, before, after }])),
    ...keys.flatMap(([setting, before, after]) =>
      // Here null is a value and means nobody.
      after ? [{ setting, unit: 'address' as const, before: formatKey(before), after: formatKey(after) }] : [],
    ),
  ];
}

const map = <From, To>(value: From | null, to: (value: From) => To): To | null => (value === null ? null : to(value));

const tiersOf = (tiers: Config['tiers']) =>
  tiers.map(({ maxPrice, deposit }) => `${formatUsdc(maxPrice)}:${formatUsdc(deposit)}`);
