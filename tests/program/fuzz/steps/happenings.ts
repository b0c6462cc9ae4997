/** Changes outside the program: time passes, accounts are frozen, closed and recreated, strangers send tokens. */
import * as program from '../../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../../app/sdk/receipt/receipt.ts';
import { CALLERS, CREATORS, gasBalance, STRANGER, spareAccount, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Address, key, type Ledger, RENTS, TOKEN_ACCOUNT_BYTES, text } from '../ledger.ts';
import { ripeFrom } from '../rules/archive.ts';
import { TREASURY, UNCLAIMED } from '../rules/config.ts';
import { closableAt, movableAt } from '../rules/executions.ts';
import { depositEdges } from './deposits.ts';
import { bytesOf, type Happening, newNonce, type Planner, type Scene } from './plan.ts';

const { disputeLapseSeconds, endedDisputeSeconds } = program.constants;

const HALF_HOUR = 1_800n;

/** All times at which something becomes possible or impossible. */
function edges(ledger: Ledger): bigint[] {
  const moments: bigint[] = [];
  for (const [, record] of ledger.all('ExecutionRecord')) {
    if (record.status === 'open') moments.push(record.refundAt, record.deadline, movableAt(record));
    if (record.status === 'completed') {
      moments.push(ripeFrom(ledger, record), record.settledAt + BigInt(record.disputeWindowSeconds));
    }
    if (record.status === 'refunded') moments.push(closableAt(record)!);
  }
  for (const [, dispute] of ledger.all('Dispute')) {
    if (dispute.outcome === 'open') moments.push(dispute.openedAt + BigInt(disputeLapseSeconds));
    else moments.push(dispute.resolvedAt + BigInt(endedDisputeSeconds));
  }
  for (const [, collateral] of ledger.all('CreatorCollateral')) {
    if (!collateral.returned && collateral.returnableAt > 0n) moments.push(collateral.returnableAt);
  }
  for (const [, grant] of ledger.all('KeyGrant')) {
    if (!grant.revoked) moments.push(grant.expiresAt, grant.periodStart + BigInt(grant.periodSeconds));
  }
  moments.push(...depositEdges(ledger));
  // In a new half-hour, nonces of the one before the previous become invalid.
  moments.push((ledger.now / HALF_HOUR + 1n) * HALF_HOUR);
  return moments.sort((left, right) => (left < right ? -1 : 1));
}

/** Waits some seconds, or until a second before, at or after one of the next edges. */
export const wait: Planner = ({ ledger }, draw): Happening => {
  const { now } = ledger;
  const ahead = edges(ledger).filter((moment) => moment > now);
  const near = ahead[draw.of([0, 1, 2, 4, 8])];
  const jump = near === undefined || draw.maybe(40) ? now + draw.of([1n, 30n, 300n]) : near + draw.of([0n, -1n, 1n]);
  const then = jump > now ? jump : now + 1n;
  return {
    name: 'wait',
    happen: (target) => {
      target.now = then;
    },
  };
};

/** Accounts that the mint's authority can freeze, including the program's own. */
function freezable(ledger: Ledger): Address[] {
  return [...ledger.entries()].filter(([, { token }]) => token !== undefined).map(([address]) => address);
}

export const freeze: Planner = ({ ledger }, draw): Happening => {
  const frozen = freezable(ledger).filter((address) => ledger.token(address).frozen);
  const thaws = frozen.length > 0 && !draw.maybe(30);
  const disputing = [...ledger.all('Dispute')].filter(([, { outcome }]) => outcome === 'open');
  const owners = [...disputing.map(([, { caller }]) => key(caller)), ...CALLERS, ...CREATORS];
  const parties = owners.map(wallet).filter((address) => ledger.get(address).token);
  const account = thaws ? draw.of(frozen) : draw.of(draw.maybe(40) ? freezable(ledger) : [...parties, TREASURY]);
  return thaws ? thaw(account) : { name: 'freeze', happen: (target) => target.changeToken(account, { frozen: true }) };
};

export function thaw(account: Address): Happening {
  return { name: 'thaw', happen: (target) => target.changeToken(account, { frozen: false }) };
}

/** A party moves its money to its other account and closes this one, or recreates it with some of the money. */
export const remake: Planner = ({ ledger }, draw): Happening | null => {
  const owner = draw.of([...CALLERS, ...CREATORS]);
  const [account, other] = [wallet(owner), spareAccount(owner)];
  const { token } = ledger.get(account);
  if (token) {
    if (token.frozen || ledger.token(other).frozen || token.owner !== text(owner)) return null;
    return {
      name: 'close account',
      happen: (target) => {
        target.changeToken(other, { amount: target.token(other).amount + token.amount });
        target.changeToken(account, { amount: 0n });
        target.closeToken(account, text(owner));
      },
    };
  }
  const back = ledger.token(other).amount / 2n;
  return {
    name: 'make account',
    happen: (target) => {
      target.createToken(account, text(STRANGER), text(owner));
      target.changeToken(other, { amount: target.token(other).amount - back });
      target.changeToken(account, { amount: back });
    },
  };
};

/** A token account changes its owner, as the Token program allows, or is given back. */
export const giveAway: Planner = ({ ledger }, draw): Happening | null => {
  const owner = draw.of([...CALLERS, ...CREATORS]);
  const account = draw.of([wallet(owner), spareAccount(owner)]);
  const { token } = ledger.get(account);
  if (!token || token.frozen) return null;
  const next = token.owner === text(owner) ? STRANGER : owner;
  const fields = { owner: text(next), delegate: null, delegatedAmount: 0n };
  return { name: 'change owner', happen: (target) => target.changeToken(account, fields) };
};

/** A stranger sends USDC to an unexpected account. */
export const dust: Planner = ({ ledger }, draw): Happening | null => {
  const source = wallet(STRANGER);
  // Excludes empty ones, which still exist only because nobody could receive their rent.
  const own = freezable(ledger).filter((address) => {
    const { owner, amount } = ledger.token(address);
    return amount > 0n && (ledger.get(owner).state || isVault(ledger, address));
  });
  const places = [...own, TREASURY].filter((address) => !ledger.token(address).frozen);
  if (places.length === 0 || ledger.token(source).frozen) return null;
  const [to, amount] = [draw.of(places), draw.of([1n, 777n, 50_000_000n])];
  return { name: 'dust', happen: (target) => target.transfer(source, to, amount, text(STRANGER)) };
};

/** True for vaults and the treasury, which own themselves. Unclaimed refunds get nothing, so that their sum is exact. */
const isVault = (ledger: Ledger, address: Address) => ledger.token(address).owner === address && address !== UNCLAIMED;

/** An address of the program without an account, which may get one soon. */
function soon(scene: Scene, draw: Draw): Address {
  const caller = draw.of(CALLERS);
  const record = program.findExecution(deriveExecutionId(caller.toBytes(), newNonce(scene)));
  const listing = program.findListing(draw.of(CREATORS), bytesOf(draw.of([2, 3]), 16));
  const places = [
    record,
    program.findEscrow(record),
    program.findDispute(record),
    listing,
    program.findCollateral(listing),
    program.findCollateralVault(listing),
    program.findGrant(caller, bytesOf(2, 16)),
    program.findCreator(draw.of(CREATORS)),
  ];
  return text(draw.of(places));
}

/** A stranger sends lamports to an address of the program, with or without an account. */
export const lamports: Planner = (scene, draw): Happening => {
  const { ledger } = scene;
  const ours = [...ledger.entries()].filter(([, { state }]) => state !== undefined).map(([address]) => address);
  const to = draw.maybe(50) ? draw.of(ours) : soon(scene, draw);
  const amount = draw.of([ledger.rent(0), 1n + ledger.rent(0), ledger.rent(TOKEN_ACCOUNT_BYTES), 10_000_000n]);
  return { name: 'lamports', happen: (target) => target.moveLamports(text(STRANGER), to, amount) };
};

/** A creator or caller spends all its lamports, or gets some again. */
export const poverty: Planner = ({ ledger }, draw): Happening => {
  const party = text(draw.of([...CREATORS, ...CALLERS]));
  const has = ledger.get(party).lamports;
  const [from, to] = has > 0n ? [party, text(STRANGER)] : [text(STRANGER), party];
  const amount = has > 0n ? has : 1_000_000_000n;
  return {
    name: has > 0n ? 'spend lamports' : 'earn lamports',
    happen: (target) => target.moveLamports(from, to, amount),
  };
};

/** Anyone adds to a gas balance by a plain transfer that leaves it rent-exempt. */
export const deposit: Planner = ({ ledger }, draw): Happening => {
  const to = gasBalance(draw.lean(CALLERS, (caller) => ledger.get(gasBalance(caller)).lamports < 10_000_000n));
  const least = ledger.rent(0);
  const amount = draw.of([50_000_000n, least, least + 12_345n, 5_000_000n]);
  return { name: 'deposit', happen: (target) => target.moveLamports(text(STRANGER), to, amount) };
};

/** The rent per byte falls or rises. No balance changes. */
export const changeRent: Planner = ({ ledger }, draw): Happening => {
  const next = draw.of(RENTS.filter((lamports) => lamports !== ledger.lamportsPerByte));
  return {
    name: 'change rent',
    happen: (target) => {
      target.lamportsPerByte = next;
    },
  };
};
