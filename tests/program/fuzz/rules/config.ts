/** The program's rules for settings, authorities, the treasury and badges. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { type Address, demand, key, type Ledger, type StateOf, text } from '../ledger.ts';
import { frozenOrGone } from './token.ts';

export const CONFIG = text(program.findConfig());
export const TREASURY = text(program.findTreasury());
export const UNCLAIMED = text(program.findUnclaimed());
export const NOBODY = '11111111111111111111111111111111';
/** How long a change that is due can be applied, and how much longer a change of guardian waits. */
export const CHANGE_SECONDS = 604_800n;
const GUARDIAN_SECONDS = 604_800;
export const ZERO_HASH = '00'.repeat(32);

export type Config = StateOf<'Config'>;

/** The present settings. Every instruction except the first needs them. */
export function config(ledger: Ledger): Config {
  return ledger.state('Config', CONFIG);
}

/** Collateral required for a price; null above the last tier. */
export function tierDeposit(settings: Config, price: bigint): bigint | null {
  const tier = settings.tiers.slice(0, settings.tierCount).find(({ maxPrice }) => price <= maxPrice);
  return tier ? tier.deposit : null;
}

const between = (low: number | bigint, value: number | bigint, high: number | bigint) => low <= value && value <= high;

function demandBounds(settings: Config): void {
  demand(settings.feeBps <= 100, 'FeeOutOfBounds');
  demand(between(10_000n, settings.minPrice, 1_000_000n), 'MinPriceOutOfBounds');
  demand(between(259_200, settings.disputeWindowSeconds, 2_592_000), 'DisputeWindowOutOfBounds');
  demand(between(300, settings.refundGraceSeconds, 3_600), 'RefundGraceOutOfBounds');
  demand(between(60, settings.maxTimeoutSeconds, 86_400), 'MaxTimeoutOutOfBounds');
  demand(between(3_600, settings.recordSeconds, 259_200), 'RecordSecondsOutOfBounds');
  demand(settings.disputeBondLamports <= 1_000_000_000n, 'BondOutOfBounds');
  demand(settings.exposureMultiple <= 1_000, 'ExposureMultipleOutOfBounds');
  demand(settings.adminDelaySeconds <= 2_592_000, 'AdminDelayOutOfBounds');
  const tiers = settings.tiers.slice(0, settings.tierCount);
  const bounded = tiers.every(({ maxPrice, deposit }) => maxPrice <= 10_000_000_000n && deposit <= 100_000_000_000n);
  const rising = tiers.every(({ maxPrice, deposit }, index) => {
    const below = tiers[index - 1];
    return maxPrice >= settings.minPrice && (!below || (below.maxPrice < maxPrice && below.deposit < deposit));
  });
  demand(tiers.length > 0 && bounded && rising, 'InvalidTiers');
}

const span = (settings: Config) =>
  settings.maxTimeoutSeconds + settings.refundGraceSeconds + settings.disputeWindowSeconds;

function padded(tiers: program.CollateralTier[]): program.CollateralTier[] {
  demand(tiers.length <= 4, 'InvalidTiers');
  return [...tiers, ...Array.from({ length: 4 - tiers.length }, () => ({ maxPrice: 0n, deposit: 0n }))];
}

/** The present relay authorities. */
export const relaysOf = (settings: Config): Address[] =>
  settings.relayAuthorities.slice(0, settings.relayAuthorityCount);

const MOST_RELAYS = 8;

/** Replaces the relay authorities: 1 to 8, without duplicates and the zero key. */
function withRelays(keys: PublicKey[]): Pick<Config, 'relayAuthorities' | 'relayAuthorityCount'> {
  const relays = keys.map(text);
  const distinct = new Set(relays).size === relays.length && !relays.includes(NOBODY);
  demand(distinct && relays.length >= 1 && relays.length <= MOST_RELAYS, 'InvalidRelayAuthorities');
  const unused = Array.from({ length: MOST_RELAYS - relays.length }, () => NOBODY);
  return { relayAuthorities: [...relays, ...unused], relayAuthorityCount: relays.length };
}

export function initializeConfig(
  ledger: Ledger,
  input: program.InitializeConfigInput,
  upgradeAuthority: Address,
): void {
  ledger.demandNew(CONFIG);
  demand(text(input.authority) === upgradeAuthority, 'NotUpgradeAuthority');
  const admin = text(input.admin);
  demand(admin !== NOBODY, 'InvalidAuthority');
  const { feeBps, minPrice, disputeBondLamports, disputeWindowSeconds } = input;
  const { refundGraceSeconds, maxTimeoutSeconds, recordSeconds, exposureMultiple, adminDelaySeconds } = input;
  const made = {
    ...{ version: 1, adminPaused: false, guardianPaused: false, longestSpanSeconds: 0 },
    ...{ changesValidFrom: 0n, adminSince: 0n },
    ...{ feeBps, minPrice, disputeBondLamports, disputeWindowSeconds, refundGraceSeconds, maxTimeoutSeconds },
    ...{ recordSeconds, guardian: text(input.guardian), adminDelaySeconds },
    ...{ admin, usdcMint: text(input.usdcMint), exposureMultiple, reserved: '00'.repeat(64) },
    ...withRelays(input.relayAuthorities),
    ...{ tierCount: input.tiers.length, tiers: padded(input.tiers) },
  };
  demandBounds(made);
  ledger.create('Config', CONFIG, text(input.payer), { ...made, longestSpanSeconds: span(made) });
  for (const account of [TREASURY, UNCLAIMED]) ledger.createToken(account, text(input.payer), account);
}

function demandAdmin(ledger: Ledger, admin: Address): Config {
  const settings = config(ledger);
  demand(settings.admin === admin, 'NotAdmin');
  return settings;
}

/** The settings after a change. Refuses values out of bounds. */
function changed(before: Config, change: program.SettingsChange): Config {
  const { tiers, liftGuardianPause, ...changes } = change;
  const given = Object.entries(changes).filter(([, value]) => value !== null);
  const after: Config = { ...before, ...Object.fromEntries(given) };
  demand(after.adminDelaySeconds >= before.adminDelaySeconds, 'AdminDelayOutOfBounds');
  after.guardianPaused &&= !liftGuardianPause;
  if (tiers) {
    after.tiers = padded(tiers);
    after.tierCount = tiers.length;
  }
  demandBounds(after);
  after.longestSpanSeconds = Math.max(before.longestSpanSeconds, span(after));
  return after;
}

const mayBe = (settings: Config, isWidened: boolean): void =>
  demand(settings.adminDelaySeconds === 0 || !isWidened, 'ChangeMustWait');

/** True if a change affects payments, or weakens the protection of callers or creators. */
function isWidened(before: Config, after: Config): boolean {
  const same = (['feeBps', 'minPrice', 'disputeBondLamports', 'recordSeconds', 'tierCount'] as const).every(
    (name) => before[name] === after[name],
  );
  const sameTiers = before.tiers.every(({ maxPrice, deposit }, index) => {
    const next = after.tiers[index]!;
    return maxPrice === next.maxPrice && deposit === next.deposit;
  });
  const limit = ({ exposureMultiple }: Config) => exposureMultiple || Number.POSITIVE_INFINITY;
  return (
    after.adminDelaySeconds > before.adminDelaySeconds ||
    (before.guardianPaused && !after.guardianPaused) ||
    !same ||
    !sameTiers ||
    after.disputeWindowSeconds < before.disputeWindowSeconds ||
    limit(after) > limit(before)
  );
}

export function updateConfig(ledger: Ledger, input: program.UpdateConfigInput): void {
  const { admin, ...change } = input;
  const before = demandAdmin(ledger, text(admin));
  const after = changed(before, change);
  mayBe(before, isWidened(before, after));
  ledger.change('Config', CONFIG, after);
}

type Details = StateOf<'PendingChange'>['details'];

const NO_SETTINGS: Details['settings'] = {
  ...{ liftGuardianPause: false, feeBps: null, minPrice: null, disputeBondLamports: null, disputeWindowSeconds: null },
  ...{
    refundGraceSeconds: null,
    maxTimeoutSeconds: null,
    recordSeconds: null,
    exposureMultiple: null,
    adminDelaySeconds: null,
    tiers: null,
  },
};

/** What a change is about. A change of admin or guardian holds nothing else. */
function subjectOf({ settings, addedRelayAuthorities, guardian, admin }: Details): 'settings' | 'guardian' | 'admin' {
  if (guardian === null && admin === null) return 'settings';
  const given = Object.values(settings).some((value) => value !== null && value !== false);
  const isMixed = (guardian !== null && admin !== null) || given || addedRelayAuthorities.length > 0;
  demand(!isMixed, 'MixedChange');
  return guardian === null ? 'admin' : 'guardian';
}

/** Changes that were proposed up to this time are cancelled. */
const cancelledUntil = (settings: Config, details: Details): bigint =>
  subjectOf(details) === 'settings' ? settings.changesValidFrom : settings.adminSince;

/** The config after a pending change is applied. */
function applied(before: Config, details: Details): Config {
  demand(details.admin === null, 'AdminMustAccept');
  const after = changed(before, details.settings as program.SettingsChange);
  const relays = relaysOf(before);
  const added = details.addedRelayAuthorities.filter((relay) => !relays.includes(relay));
  if (details.addedRelayAuthorities.length > 0) Object.assign(after, withRelays([...relays, ...added].map(key)));
  return { ...after, guardian: details.guardian ?? before.guardian };
}

export function proposeChange(ledger: Ledger, input: program.ProposeChangeInput): void {
  ledger.state('Config', CONFIG);
  ledger.demandNew(text(program.findChange(input.changeId)));
  const before = demandAdmin(ledger, text(input.admin));
  const { changeId, guardian, nextAdmin } = input;
  const details: Details = {
    settings: { ...NO_SETTINGS, ...input.settings },
    addedRelayAuthorities: (input.addedRelayAuthorities ?? []).map(text),
    guardian: guardian ? text(guardian) : null,
    admin: nextAdmin ? text(nextAdmin) : null,
  };
  const [rentSponsor, proposedAt] = [text(input.payer), ledger.now];
  demand(proposedAt > cancelledUntil(before, details), 'ChangeInvalidated');
  if (nextAdmin) demand(details.admin !== NOBODY, 'InvalidAuthority');
  else applied(before, details);
  const delay = before.adminDelaySeconds;
  const dueAt = proposedAt + BigInt(guardian && delay > 0 ? delay + GUARDIAN_SECONDS : delay);
  const made = { version: 1, bump: 0, changeId, rentSponsor, proposedAt, dueAt, details };
  ledger.create('PendingChange', text(program.findChange(changeId)), rentSponsor, made);
}

export function applyChange(ledger: Ledger, input: program.ApplyChangeInput): void {
  const change = waiting(ledger, input);
  demandApplicable(ledger, change);
  ledger.change('Config', CONFIG, applied(config(ledger), change.details));
  ledger.close(change.address, change.rentSponsor);
}

type Change = StateOf<'PendingChange'>;

function demandApplicable(ledger: Ledger, { details, proposedAt, dueAt }: Change): void {
  demand(proposedAt > cancelledUntil(config(ledger), details), 'ChangeInvalidated');
  demand(ledger.now >= dueAt, 'ChangeNotDue');
  demand(ledger.now < dueAt + CHANGE_SECONDS, 'ChangeExpired');
}

export function cancelChange(ledger: Ledger, input: Parameters<typeof program.cancelChange>[0]): void {
  const { address, rentSponsor, details, proposedAt, dueAt } = waiting(ledger, input);
  const settings = config(ledger);
  const isOver = ledger.now >= dueAt + CHANGE_SECONDS || proposedAt <= cancelledUntil(settings, details);
  if (!isOver) demandCanceller(ledger, subjectOf(details), input.authority);
  ledger.close(address, rentSponsor);
}

function demandCanceller(ledger: Ledger, subject: ReturnType<typeof subjectOf>, authority: PublicKey): void {
  const { admin, guardian } = config(ledger);
  if (subject === 'settings') demandGuardian(ledger, authority);
  else if (subject === 'admin' && guardian !== NOBODY) demand(guardian === text(authority), 'NotGuardian');
  else demand(admin === text(authority), 'NotAdmin');
}

export function cancelAllChanges(ledger: Ledger, { authority }: { authority: PublicKey }): void {
  demandGuardian(ledger, authority);
  ledger.change('Config', CONFIG, { changesValidFrom: ledger.now });
}

function waiting(ledger: Ledger, { changeId, rentSponsor }: program.ApplyChangeInput) {
  const address = text(program.findChange(changeId));
  const found = ledger.state('PendingChange', address);
  demand(found.rentSponsor === text(rentSponsor), 'WrongRentSponsor');
  return { ...found, address };
}

function demandGuardian(ledger: Ledger, authority: PublicKey): Config {
  const settings = config(ledger);
  demand([settings.guardian, settings.admin].includes(text(authority)), 'NotGuardianOrAdmin');
  return settings;
}

export function setPause(ledger: Ledger, { authority, isPaused }: program.SetPauseInput): void {
  const { admin, guardian } = demandGuardian(ledger, authority);
  if (admin === text(authority)) ledger.change('Config', CONFIG, { adminPaused: isPaused });
  if (guardian !== text(authority)) return;
  ledger.change('Config', CONFIG, { guardianPaused: isPaused, ...(isPaused && { changesValidFrom: ledger.now }) });
}

export function removeRelayAuthority(ledger: Ledger, input: program.RemoveRelayAuthorityInput): void {
  const relays = relaysOf(demandGuardian(ledger, input.authority));
  const removed = text(input.relayAuthority);
  demand(relays.includes(removed), 'UnknownRelayAuthority');
  const kept = relays.filter((relay) => relay !== removed);
  const unused = Array.from({ length: MOST_RELAYS - kept.length }, () => NOBODY);
  const left = { relayAuthorities: [...kept, ...unused], relayAuthorityCount: kept.length };
  ledger.change('Config', CONFIG, { ...left, changesValidFrom: ledger.now });
}

export function acceptAdmin(ledger: Ledger, input: Parameters<typeof program.acceptAdmin>[0]): void {
  const change = waiting(ledger, input);
  const admin = text(input.nextAdmin);
  demand(change.details.admin === admin, 'NotNextAdmin');
  demandApplicable(ledger, change);
  ledger.change('Config', CONFIG, { admin, adminSince: ledger.now, changesValidFrom: ledger.now });
  ledger.close(change.address, change.rentSponsor);
}

export function withdrawTreasury(ledger: Ledger, input: program.WithdrawTreasuryInput): void {
  demand(!demandAdmin(ledger, text(input.admin)).guardianPaused, 'TreasuryPaused');
  const destination = text(input.destination);
  demand(input.amount > 0n && input.amount <= ledger.token(TREASURY).amount, 'InvalidAmount');
  demand(destination !== TREASURY && !frozenOrGone(ledger, destination), 'DestinationUnusable');
  ledger.transfer(TREASURY, destination, input.amount, TREASURY);
}

export function setCreatorVerified(ledger: Ledger, input: program.SetCreatorVerifiedInput): void {
  demandAdmin(ledger, text(input.admin));
  const profile = text(program.findCreator(input.creator));
  const { verified } = input;
  const verifiedAt = verified ? ledger.now : 0n;
  const value = { version: 1, bump: 0, verified, creator: text(input.creator), verifiedAt };
  if (ledger.find('CreatorProfile', profile)) ledger.change('CreatorProfile', profile, value);
  else ledger.create('CreatorProfile', profile, text(input.payer), value);
}
