/** Steps of the admin and the guardian: settings, roles, the treasury and badges. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { TIERS, USDC } from '../../../harness/vm/world.ts';
import {
  ADMINS,
  CREATORS,
  GUARDIAN,
  MINT,
  RELAYS,
  SPONSOR,
  STRANGER,
  spareAccount,
  UPGRADE_AUTHORITY,
  wallet,
} from '../cast.ts';
import type { Draw } from '../draw.ts';
import { key, type Ledger, text } from '../ledger.ts';
import * as rules from '../rules/config.ts';
import { type Plan, type Planner, plan, until, ZERO_KEY } from './plan.ts';

const DAY = 86_400;

const TIER_CHOICES: program.CollateralTier[][] = [
  TIERS,
  [{ maxPrice: 100n * USDC, deposit: 15n * USDC }],
  [
    { maxPrice: 1_234_567n, deposit: 0n },
    { maxPrice: 50n * USDC, deposit: 12n * USDC },
  ],
  TIERS.map(({ maxPrice, deposit }) => ({ maxPrice, deposit: deposit * 2n })),
];

/** Values of settings within their bounds. The first of each is that of the local network. */
const CHOICES = {
  feeBps: [100, 0, 1, 99, 37],
  minPrice: [10_000n, 20_000n, 1_000_000n],
  disputeBondLamports: [10_000_000n, 0n, 1n, 500_000n, 1_000_000_000n],
  disputeWindowSeconds: [3 * DAY, 3 * DAY + 1, 30 * DAY],
  refundGraceSeconds: [600, 300, 3_600],
  maxTimeoutSeconds: [3_600, 60, 86_400],
  recordSeconds: [3_600, 3_601, 3 * DAY],
  exposureMultiple: [0, 1, 2],
  adminDelaySeconds: [0, 0, 0, 3_600],
  tiers: TIER_CHOICES,
} as const;

const [relayA, relayB] = RELAYS as [PublicKey, PublicKey];
const RELAY_CHOICES = [[relayA, relayB], [relayA], [relayB], RELAYS.slice(1)];

const FAULTS = {
  feeBps: 101,
  minPrice: 9_999n,
  disputeBondLamports: 1_000_000_001n,
  disputeWindowSeconds: 30 * DAY + 1,
  refundGraceSeconds: 299,
  maxTimeoutSeconds: 59,
  recordSeconds: 3_599,
  adminDelaySeconds: 30 * DAY + 1,
  tiers: [TIERS[1]!, TIERS[0]!],
} as const;

type Setting = keyof typeof CHOICES;
const SETTINGS = Object.keys(CHOICES) as Setting[];

/** Creates the marketplace the first time. Later attempts must be refused. */
export const initializeConfig: Planner = ({ ledger }, draw) => {
  const fresh = !ledger.find('Config', rules.CONFIG);
  const chosen = Object.fromEntries(SETTINGS.map((name) => [name, draw.of(CHOICES[name] as readonly unknown[])]));
  const input = {
    authority: fresh || !draw.maybe(50) ? UPGRADE_AUTHORITY.publicKey : STRANGER,
    payer: SPONSOR,
    usdcMint: MINT,
    admin: ADMINS[0]!,
    guardian: draw.of([GUARDIAN, ZERO_KEY]),
    relayAuthorities: draw.of(RELAY_CHOICES),
    ...(chosen as Pick<program.InitializeConfigInput, Setting>),
  };
  const rule = (target: Ledger) => rules.initializeConfig(target, input, text(UPGRADE_AUTHORITY.publicKey));
  return plan('initialize_config', 'ConfigInitialized', program.initializeConfig(input), rule);
};

/** The present admin, sometimes somebody else. */
function someAdmin(ledger: Ledger, draw: Draw) {
  const { admin } = rules.config(ledger);
  return draw.fault('other') === 'none' ? key(admin) : draw.of([STRANGER, ...ADMINS]);
}

export const updateConfig: Planner = ({ ledger }, draw) => {
  const input: program.UpdateConfigInput = { admin: someAdmin(ledger, draw), liftGuardianPause: draw.maybe(50) };
  for (let change = 0; change < 2; change += 1) {
    const name = draw.of(SETTINGS);
    const fault = draw.fault('out of bounds') !== 'none' && name !== 'exposureMultiple';
    Object.assign(input, { [name]: fault ? FAULTS[name] : draw.of(CHOICES[name] as readonly unknown[]) });
  }
  return plan('update_config', 'ConfigUpdated', program.updateConfig(input), (target) =>
    rules.updateConfig(target, input),
  );
};

/** A few ids, so that some are already used. */
const CHANGE_IDS = [1n, 2n, 3n];

/** Settings, an admin or a guardian; rarely two of them. */
function subject(draw: Draw): Omit<program.ProposeChangeInput, 'admin' | 'payer' | 'changeId'> {
  const admin = () => ({ nextAdmin: draw.maybe(95) ? draw.of(ADMINS) : ZERO_KEY });
  const guardian = () => ({ guardian: draw.of([GUARDIAN, STRANGER, ZERO_KEY]) });
  if (draw.maybe(25)) return admin();
  if (draw.maybe(20)) return guardian();
  const name = draw.of(SETTINGS);
  const isFaulty = draw.fault('bounds') !== 'none' && name !== 'exposureMultiple';
  return {
    settings: {
      [name]: isFaulty ? FAULTS[name] : draw.of(CHOICES[name] as readonly unknown[]),
      liftGuardianPause: draw.maybe(30),
    },
    ...(draw.maybe(30) && {
      addedRelayAuthorities: draw.of([RELAYS.slice(0, 2), RELAYS.slice(3, 5), RELAYS, [ZERO_KEY]]),
    }),
    ...(draw.fault('mixed') !== 'none' && (draw.maybe(50) ? admin() : guardian())),
  };
}

export const proposeChange: Planner = ({ ledger }, draw) => {
  const free = CHANGE_IDS.filter((id) => !ledger.find('PendingChange', text(program.findChange(id))));
  const input: program.ProposeChangeInput = {
    admin: someAdmin(ledger, draw),
    payer: SPONSOR,
    changeId: draw.of(free.length > 0 && draw.fault('taken') === 'none' ? free : CHANGE_IDS),
    ...subject(draw),
  };
  return plan('propose_change', 'ChangeProposed', program.proposeChange(input), (target) =>
    rules.proposeChange(target, input),
  );
};

/** A pending change, or sometimes one that does not exist; null if there is none. */
function someChange(ledger: Ledger, draw: Draw): program.ApplyChangeInput | null {
  const [...waiting] = ledger.all('PendingChange');
  if (waiting.length === 0) return null;
  const [, { changeId, rentSponsor }] = draw.of(waiting);
  return { changeId, rentSponsor: draw.fault('other') === 'none' ? key(rentSponsor) : STRANGER };
}

/** The guardian or the admin, sometimes somebody else. */
function someGuardian(ledger: Ledger, draw: Draw) {
  const { guardian, admin } = rules.config(ledger);
  const named = [key(admin), ...(guardian === rules.NOBODY ? [] : [key(guardian)])];
  return draw.fault('other') === 'none' ? draw.of(named) : draw.of([GUARDIAN, STRANGER, ...ADMINS]);
}

export const applyChange: Planner = (scene, draw) => {
  const { ledger } = scene;
  const input = someChange(ledger, draw);
  if (!input) return proposeChange(scene, draw);
  const { dueAt } = ledger.state('PendingChange', text(program.findChange(input.changeId)));
  const expiresAt = dueAt + rules.CHANGE_SECONDS;
  if (dueAt > ledger.now && draw.maybe(70)) return until(ledger, [dueAt]);
  if (expiresAt > ledger.now && draw.maybe(10)) return until(ledger, [expiresAt]);
  return plan('apply_change', 'ChangeApplied', program.applyChange(input), (target) =>
    rules.applyChange(target, input),
  );
};

export const cancelChange: Planner = (scene, draw) => {
  const change = someChange(scene.ledger, draw);
  if (!change) return proposeChange(scene, draw);
  const input = { ...change, authority: someGuardian(scene.ledger, draw) };
  return plan('cancel_change', 'ChangeCancelled', program.cancelChange(input), (target) =>
    rules.cancelChange(target, input),
  );
};

export const cancelAllChanges: Planner = ({ ledger }, draw) => {
  const input = { authority: someGuardian(ledger, draw) };
  return plan('cancel_all_changes', 'ChangesCancelled', program.cancelAllChanges(input), (target) =>
    rules.cancelAllChanges(target, input),
  );
};

export const setPause: Planner = ({ ledger }, draw) => {
  const { admin, guardian, adminPaused, guardianPaused } = rules.config(ledger);
  // Pauses end soon, because most steps fail while they last.
  const canLift = guardianPaused && guardian !== rules.NOBODY ? key(guardian) : key(admin);
  const isPaused = adminPaused || guardianPaused ? draw.maybe(10) : draw.maybe(30);
  const input = { authority: draw.maybe(70) ? canLift : someGuardian(ledger, draw), isPaused };
  return plan('set_pause', 'ConfigUpdated', program.setPause(input), (target) => rules.setPause(target, input));
};

export const removeRelayAuthority: Planner = ({ ledger }, draw) => {
  const relays = rules.relaysOf(rules.config(ledger));
  const last = relays.at(-1);
  // The last relay is rarely removed, because most steps fail without one.
  const removable = last !== undefined && (relays.length > 1 || draw.maybe(10)) ? key(last) : STRANGER;
  const input = { authority: someGuardian(ledger, draw), relayAuthority: removable };
  return plan('remove_relay_authority', 'RelayAuthorityRemoved', program.removeRelayAuthority(input), (target) =>
    rules.removeRelayAuthority(target, input),
  );
};

export const acceptAdmin: Planner = (scene, draw) => {
  const change = someChange(scene.ledger, draw);
  if (!change) return proposeChange(scene, draw);
  const { details } = scene.ledger.state('PendingChange', text(program.findChange(change.changeId)));
  if (details.admin === null && draw.maybe(80)) return applyChange(scene, draw);
  const isProposed = details.admin !== null && details.admin !== rules.NOBODY && draw.fault('other') === 'none';
  const input = { ...change, nextAdmin: isProposed ? key(details.admin!) : draw.of([STRANGER, ...ADMINS]) };
  return plan('accept_admin', 'AdminChanged', program.acceptAdmin(input), (target) => rules.acceptAdmin(target, input));
};

export const withdrawTreasury: Planner = ({ ledger }, draw): Plan => {
  const held = ledger.token(rules.TREASURY).amount;
  const amount = { none: 1n + draw.upTo(held - 1n), zero: 0n, above: held + 1n }[draw.fault('zero', 'above')];
  const places = [...ADMINS.map(wallet), spareAccount(CREATORS[0]!)];
  const destination = draw.fault('itself') === 'none' ? draw.of(places) : draw.of([rules.TREASURY, text(STRANGER)]);
  const input = { admin: someAdmin(ledger, draw), destination: key(destination), amount };
  return plan('withdraw_treasury', 'TreasuryWithdrawn', program.withdrawTreasury(input), (target) =>
    rules.withdrawTreasury(target, input),
  );
};

export const setCreatorVerified: Planner = ({ ledger }, draw) => {
  const verified = !draw.maybe(30);
  const input = { admin: someAdmin(ledger, draw), payer: SPONSOR, creator: draw.of(CREATORS), verified };
  return plan('set_creator_verified', 'CreatorVerificationChanged', program.setCreatorVerified(input), (target) =>
    rules.setCreatorVerified(target, input),
  );
};
