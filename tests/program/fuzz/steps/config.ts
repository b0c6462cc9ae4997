/** Steps of the marketplace's owner. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { TIERS, USDC } from '../../../harness/vm/world.ts';
import { ADMINS, CREATORS, MINT, purse, RELAYS, SPONSOR, STRANGER, UPGRADE_AUTHORITY, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { key, type Ledger, text } from '../ledger.ts';
import * as rules from '../rules/config.ts';
import { type Plan, type Planner, plan, ZERO_KEY } from './plan.ts';

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

/** Settings within their bounds; the first of each is what the local network uses. */
const CHOICES = {
  feeBps: [100, 0, 1, 99, 37],
  minPrice: [10_000n, 20_000n, 1_000_000n],
  disputeBondLamports: [10_000_000n, 0n, 1n, 500_000n, 1_000_000_000n],
  disputeWindowSeconds: [3 * DAY, 3 * DAY + 1, 30 * DAY],
  refundGraceSeconds: [600, 300, 3_600],
  maxTimeoutSeconds: [3_600, 60, 86_400],
  exposureMultiple: [0, 1, 2],
  tiers: TIER_CHOICES,
} as const;

const [relayA, relayB] = RELAYS as [PublicKey, PublicKey];
const RELAY_CHOICES = [[relayA, relayB], [relayA], [relayB], RELAYS.slice(1)];
const RELAY_FAULTS = [[], [ZERO_KEY], [relayA, relayB, relayA], RELAYS];

const FAULTS = {
  feeBps: 101,
  minPrice: 9_999n,
  disputeBondLamports: 1_000_000_001n,
  disputeWindowSeconds: 30 * DAY + 1,
  refundGraceSeconds: 299,
  maxTimeoutSeconds: 59,
  tiers: [TIERS[1]!, TIERS[0]!],
} as const;

type Setting = keyof typeof CHOICES;
const SETTINGS = Object.keys(CHOICES) as Setting[];

/** Creates the marketplace the first time; ever after it must be refused. */
export const initializeConfig: Planner = ({ ledger }, draw) => {
  const fresh = !ledger.find('Config', rules.CONFIG);
  const chosen = Object.fromEntries(SETTINGS.map((name) => [name, draw.of(CHOICES[name] as readonly unknown[])]));
  const input = {
    authority: fresh || !draw.maybe(50) ? UPGRADE_AUTHORITY.publicKey : STRANGER,
    payer: SPONSOR,
    usdcMint: MINT,
    admin: ADMINS[0]!,
    relayAuthorities: draw.of(RELAY_CHOICES),
    ...(chosen as Pick<program.InitializeConfigInput, Setting>),
  };
  const rule = (target: Ledger) => rules.initializeConfig(target, input, text(UPGRADE_AUTHORITY.publicKey));
  return plan('initialize_config', 'ConfigInitialized', program.initializeConfig(input), rule);
};

/** The admin in force; now and then somebody else. */
function someAdmin(ledger: Ledger, draw: Draw) {
  const { admin } = rules.config(ledger);
  return draw.fault('other') === 'none' ? key(admin) : draw.of([STRANGER, ...ADMINS]);
}

export const updateConfig: Planner = ({ ledger }, draw) => {
  const settings = rules.config(ledger);
  const input: program.UpdateConfigInput = { admin: someAdmin(ledger, draw) };
  // Pauses end soon: nothing deep happens while they last.
  if (settings.opensPaused) input.opensPaused = false;
  else if (draw.maybe(15)) input.opensPaused = true;
  for (let change = 0; change < 2; change += 1) {
    const name = draw.of(SETTINGS);
    const fault = draw.fault('out of bounds') !== 'none' && name !== 'exposureMultiple';
    Object.assign(input, { [name]: fault ? FAULTS[name] : draw.of(CHOICES[name] as readonly unknown[]) });
  }
  return plan('update_config', 'ConfigUpdated', program.updateConfig(input), (target) =>
    rules.updateConfig(target, input),
  );
};

export const proposeAdmin: Planner = ({ ledger }, draw) => {
  const input = { admin: someAdmin(ledger, draw), pendingAdmin: draw.of([...ADMINS, ZERO_KEY]) };
  return plan('propose_admin', 'AdminProposed', program.proposeAdmin(input), (target) =>
    rules.proposeAdmin(target, input),
  );
};

export const acceptAdmin: Planner = (scene, draw) => {
  const { pendingAdmin } = rules.config(scene.ledger);
  if (pendingAdmin === rules.NOBODY && draw.maybe(80)) return proposeAdmin(scene, draw);
  const proposed = pendingAdmin !== rules.NOBODY && draw.fault('other') === 'none';
  const input = { pendingAdmin: proposed ? key(pendingAdmin) : draw.of([STRANGER, ...ADMINS]) };
  return plan('accept_admin', 'AdminChanged', program.acceptAdmin(input), (target) => rules.acceptAdmin(target, input));
};

export const setRelayAuthorities: Planner = ({ ledger }, draw) => {
  const relayAuthorities = draw.fault('unsound') === 'none' ? draw.of(RELAY_CHOICES) : draw.of(RELAY_FAULTS);
  const input = { admin: someAdmin(ledger, draw), relayAuthorities };
  return plan('set_relay_authorities', 'RelayAuthoritiesChanged', program.setRelayAuthorities(input), (target) =>
    rules.setRelayAuthorities(target, input),
  );
};

export const withdrawTreasury: Planner = ({ ledger }, draw): Plan => {
  const held = ledger.token(rules.TREASURY).amount;
  const amount = { none: 1n + draw.upTo(held - 1n), zero: 0n, above: held + 1n }[draw.fault('zero', 'above')];
  const places = [...ADMINS.map(wallet), purse(CREATORS[0]!)];
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
