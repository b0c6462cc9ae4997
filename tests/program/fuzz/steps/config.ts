/** Steps of the admin and the guardian: settings, pauses and the treasury. */
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
  tiers: TIER_CHOICES,
} as const;

const [relayA, relayB] = RELAYS as [PublicKey, PublicKey];
const RELAY_CHOICES = [[relayA, relayB], [relayA], [relayB], RELAYS.slice(1)];

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
    adminDelaySeconds: 0,
    ...(chosen as Pick<program.InitializeConfigInput, Setting>),
  };
  return plan(
    'ConfigInitialized',
    program.initializeConfig,
    input,
    rules.initializeConfig,
    text(UPGRADE_AUTHORITY.publicKey),
  );
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
    Object.assign(input, { [name]: draw.of(CHOICES[name] as readonly unknown[]) });
  }
  return plan('ConfigUpdated', program.updateConfig, input, rules.updateConfig);
};

/** The guardian or the admin, sometimes somebody else. */
function someGuardian(ledger: Ledger, draw: Draw) {
  const { guardian, admin } = rules.config(ledger);
  const named = [key(admin), ...(guardian === rules.NOBODY ? [] : [key(guardian)])];
  return draw.fault('other') === 'none' ? draw.of(named) : draw.of([GUARDIAN, STRANGER, ...ADMINS]);
}

export const setPause: Planner = ({ ledger }, draw) => {
  const { admin, guardian, adminPaused, guardianPaused } = rules.config(ledger);
  // Pauses end soon, because most steps fail while they last.
  const canLift = guardianPaused && guardian !== rules.NOBODY ? key(guardian) : key(admin);
  const isPaused = adminPaused || guardianPaused ? draw.maybe(10) : draw.maybe(30);
  const input = { authority: draw.maybe(70) ? canLift : someGuardian(ledger, draw), isPaused };
  return plan('ConfigUpdated', program.setPause, input, rules.setPause);
};

export const withdrawTreasury: Planner = ({ ledger }, draw): Plan => {
  const held = ledger.token(rules.TREASURY).amount;
  const amount = { none: 1n + draw.upTo(held - 1n), zero: 0n, above: held + 1n }[draw.fault('zero', 'above')];
  const places = [...ADMINS.map(wallet), spareAccount(CREATORS[0]!)];
  const destination = draw.fault('itself') === 'none' ? draw.of(places) : draw.of([rules.TREASURY, text(STRANGER)]);
  const input = { admin: someAdmin(ledger, draw), destination: key(destination), amount };
  return plan('TreasuryWithdrawn', program.withdrawTreasury, input, rules.withdrawTreasury);
};
