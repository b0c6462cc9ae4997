/** Steps of wallets with API keys: grants, and the approval that they need. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { USDC } from '../../../harness/vm/world.ts';
import { swap } from '../../exploits/acts.ts';
import { CALLERS, gasBalance, STRANGER, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { demand, key, type Ledger, text } from '../ledger.ts';
import { config, relaysOf } from '../rules/config.ts';
import * as rules from '../rules/grants.ts';
import { bytesOf, fromHex, type Happening, type Planner, plan, planOf, somePayer } from './plan.ts';

const YEAR = 31_536_000n;
const KEY_IDS = [1, 2].map((index) => bytesOf(index, 16));

function someLimits(draw: Draw, now: bigint): program.GrantLimits {
  const limits = {
    perExecutionMax: draw.of([50n * USDC, 1_234_567n, 1_999_999n]),
    periodMax: draw.of([100n * USDC, 2_469_134n, 5_000_000n]),
    totalMax: draw.of([1_000n * USDC, 3_703_701n, 12_000_000n]),
    periodSeconds: draw.of([86_400, 1, 600]),
    expiresAt: now + draw.of([30n * 86_400n, 1n, 3_600n, YEAR]),
    maxGasLamports: draw.of([20_000, 0, 12_345, rules.MAX_GAS]),
  };
  const faults = {
    none: {},
    each: { perExecutionMax: 0n },
    period: { periodMax: 0n },
    total: { totalMax: 0n },
    instant: { periodSeconds: 0 },
    past: { expiresAt: now },
    long: { expiresAt: now + YEAR + 1n },
    thirsty: { maxGasLamports: rules.MAX_GAS + 1 },
  };
  const names = Object.keys(faults) as (keyof typeof faults)[];
  return { ...limits, ...faults[draw.maybe(10) ? draw.of(names) : 'none'] };
}

const freeIds = (ledger: Ledger, owner: PublicKey) =>
  KEY_IDS.filter((id) => !ledger.find('KeyGrant', text(program.findGrant(owner, id))));

export const createGrant: Planner = ({ ledger }, draw) => {
  const owner = draw.lean(CALLERS, (candidate) => freeIds(ledger, candidate).length > 0);
  const [free] = freeIds(ledger, owner);
  if (!free && !draw.maybe(20)) return null;
  const keyId = draw.maybe(4) ? new Uint8Array(16) : (free ?? KEY_IDS[0]!);
  const payer = somePayer(ledger, draw, owner);
  const input = { wallet: owner, payer, keyId, limits: someLimits(draw, ledger.now) };
  return plan('GrantCreated', program.createGrant, input, rules.createGrant);
};

/** A grant, usually one that is live. */
export function someGrant(ledger: Ledger, draw: Draw, wanted: (grant: rules.Grant) => boolean = () => true) {
  const live = (grant: rules.Grant) => !grant.revoked && ledger.now < grant.expiresAt && wanted(grant);
  return draw.prefer(ledger.all('KeyGrant'), ([, grant]) => live(grant))?.[1];
}

export const revokeGrant: Planner = ({ ledger }, draw) => {
  const grant = someGrant(ledger, draw);
  if (!grant) return null;
  const authority = key(draw.maybe(10) ? text(STRANGER) : draw.of([grant.wallet, ...relaysOf(config(ledger))]));
  const input = { authority, wallet: key(grant.wallet), keyId: fromHex(grant.keyId) };
  return plan('GrantRevoked', program.revokeGrant, input, rules.revokeGrant);
};

/** The signing wallet; sometimes another one, which does not match the grant's address. */
function someSigner(draw: Draw, owner: string): PublicKey {
  return draw.maybe(8) ? draw.of([STRANGER, ...CALLERS]) : key(owner);
}

export const updateGrant: Planner = ({ ledger }, draw) => {
  const grant = someGrant(ledger, draw);
  if (!grant) return null;
  const limits = someLimits(draw, ledger.now);
  const input = { wallet: key(grant.wallet), keyId: fromHex(grant.keyId), limits };
  const signer = someSigner(draw, grant.wallet);
  const instruction = swap(program.updateGrant(input), { wallet: signer });
  return planOf('updateGrant', 'GrantUpdated', instruction, (target) => rules.updateGrant(target, input, text(signer)));
};

export const closeGrant: Planner = ({ ledger }, draw) => {
  const found = draw.prefer(ledger.all('KeyGrant'), ([, { revoked, expiresAt }]) => revoked || expiresAt <= ledger.now);
  if (!found) return null;
  const [, grant] = found;
  const rentSponsor = draw.maybe(8) ? STRANGER : key(grant.rentSponsor);
  const input = { wallet: key(grant.wallet), keyId: fromHex(grant.keyId), rentSponsor };
  const signer = someSigner(draw, grant.wallet);
  const instruction = swap(program.closeGrant(input), { wallet: signer });
  return planOf('closeGrant', 'GrantClosed', instruction, (target) => rules.closeGrant(target, input, text(signer)));
};

/** A wallet withdraws lamports from its gas balance: values on both sides of every limit. */
export const withdrawGas: Planner = ({ ledger }, draw) => {
  const owner = draw.lean(CALLERS, (candidate) => ledger.get(gasBalance(candidate)).lamports > 0n);
  const held = ledger.get(gasBalance(owner)).lamports;
  const least = ledger.rent(0);
  const amounts = [held / 3n, held, held - least, held - least + 1n, held - 1n, 1n].filter((amount) => amount > 0n);
  const amount =
    draw.maybe(10) || amounts.length === 0 ? draw.of([0n, held + 1n]) : draw.of([...amounts, program.ALL_GAS]);
  const input = { wallet: owner, lamports: amount };
  const instruction = program.withdrawGas(input);
  // Nobody can withdraw from another wallet's gas balance.
  const other = CALLERS.find((candidate) => candidate !== owner)!;
  const stolen = draw.maybe(5);
  if (stolen) instruction.keys[1]!.pubkey = key(gasBalance(other));
  return planOf('withdrawGas', 'GasWithdrawn', instruction, (target) => {
    demand(!stolen, 'ConstraintSeeds');
    rules.withdrawGas(target, input);
  });
};

/** A wallet's approval is made, lowered, revoked or given to somebody else. */
export const approve: Planner = ({ ledger }, draw): Happening | null => {
  const owner = draw.of(CALLERS);
  const account = wallet(owner);
  if (ledger.get(account).token?.owner !== text(owner)) return null;
  const amount = draw.of([500n * USDC, 1_234_567n, 2_000_000n, 0n]);
  const delegate = amount === 0n ? null : text(draw.maybe(10) ? STRANGER : program.findSpender(owner));
  return {
    name: 'approve',
    happen: (target) => target.changeToken(account, { delegate, delegatedAmount: amount }),
  };
};
