/**
 * Invariants of the chain after every step, read from the accounts alone and independent of the rules. They detect even
 * a mistake that program and model share. I1 to I7 are those of the research note on reliability.
 */
import * as program from '../../../app/sdk/program/program.ts';
import { MINT, TREE } from './cast.ts';
import type { Chain } from './chain.ts';
import type { Leaf } from './leaves.ts';
import { type Address, type Entry, key, rentOf, type StateName, type StateOf, spaceOf, text } from './ledger.ts';
import { TREASURY, UNCLAIMED } from './rules/config.ts';
import { fromHex } from './steps/plan.ts';

/** Totals that no step may change. */
export interface Totals {
  usdc: bigint;
  /** Includes network fees that the runtime took. */
  lamports: bigint;
}

/** Present accounts of the program on the chain, by kind. */
class Picture {
  private readonly kinds = new Map<StateName, Map<Address, unknown>>();
  usdc = 0n;
  lamports = 0n;

  constructor(
    readonly chain: Chain,
    readonly now: bigint,
    readonly cheapest: bigint,
  ) {
    for (const [address, { lamports, token, state }] of chain.entries()) {
      this.usdc += token?.amount ?? 0n;
      this.lamports += lamports;
      if (!state) continue;
      const kind = this.kinds.get(state.name) ?? new Map<Address, unknown>();
      kind.set(address, state.value);
      this.kinds.set(state.name, kind);
    }
  }

  all<Name extends StateName>(name: Name): Map<Address, StateOf<Name>> {
    return (this.kinds.get(name) ?? new Map()) as Map<Address, StateOf<Name>>;
  }
}

export function holds(condition: boolean, invariant: string, details: string): asserts condition {
  if (!condition) throw new Error(`${invariant} is broken: ${details}`);
}

/** Checks all invariants. `cheapest` is the lowest rent per byte so far; `fees` is the sum of network fees. */
export function checkInvariants(chain: Chain, now: bigint, cheapest: bigint, totals: Totals, fees: bigint): void {
  const picture = new Picture(chain, now, cheapest);
  holds(picture.usdc === totals.usdc, 'I1, conservation of USDC', `${totals.usdc} became ${picture.usdc}`);
  const lamports = picture.lamports + fees;
  holds(lamports === totals.lamports, 'conservation of lamports', `${totals.lamports} became ${lamports}`);
  for (const [address, entry] of chain.entries()) checkRent(address, entry, cheapest);
  for (const [address, record] of chain.records) checkPlace(picture, address, record);
  for (const [address, record] of picture.all('ExecutionRecord')) checkRecord(picture, address, record);
  for (const [address, collateral] of picture.all('CreatorCollateral')) checkCollateral(picture, address, collateral);
  for (const [address, dispute] of picture.all('Dispute')) checkDispute(picture, address, dispute);
  for (const address of picture.all('Deposit').keys()) {
    const { token } = chain.last(text(program.findTokenAccount(key(address), MINT)));
    holds(token?.owner === address, 'a deposit has its vault', address);
  }
  for (const [address, grant] of picture.all('KeyGrant')) checkGrant(picture, address, grant);
}

/** The account of unclaimed refunds holds exactly those that were not claimed yet. */
export function checkUnclaimed(chain: Chain, leaves: readonly Leaf[]): void {
  const open = leaves.filter((_, index) => !chain.last(text(program.findRefundClaim(TREE, index))).state);
  const sum = open.reduce((total, { refund }) => total + (refund?.amount ?? 0n), 0n);
  const held = chain.last(UNCLAIMED).token?.amount ?? 0n;
  holds(held === sum, 'unclaimed refunds are covered', `${held} for ${sum}`);
}

function checkRent(address: Address, entry: Entry, cheapest: bigint): void {
  const { lamports } = entry;
  holds(lamports === 0n || lamports >= rentOf(spaceOf(entry), cheapest), 'rent', `${address} has ${lamports} lamports`);
}

/** A record is gone only after it has ended, and its escrow then holds nothing for it. */
function checkPlace({ chain }: Picture, address: Address, record: StateOf<'ExecutionRecord'>): void {
  if (chain.last(address).state) return;
  const ended = record.status !== 'open';
  const { token } = chain.last(text(program.findEscrow(key(address))));
  holds(ended && (token?.amount ?? 0n) === 0n, 'only an ended record goes', `${address} was ${record.status}`);
}

/** I2: an open record has its price in the escrow and its gas in the record. An ended one has no money. */
function checkRecord({ chain, cheapest }: Picture, address: Address, record: StateOf<'ExecutionRecord'>): void {
  const { token } = chain.last(text(program.findEscrow(program.findExecution(fromHex(record.executionId)))));
  if (record.status === 'open') {
    holds(token?.owner === address && token.amount >= record.price, 'I2, an open record is covered', address);
    const { lamports, state } = chain.last(address);
    const least = rentOf(state!.bytes, cheapest) + BigInt(record.gasLamports);
    holds(lamports >= least, 'I2, an open record holds its gas', `${address} has ${lamports} lamports`);
  } else {
    holds((token?.amount ?? 0n) === 0n && record.settledAt > 0n, 'I2, an ended record has no money', address);
  }
}

/** I7: collateral is never negative, the vault covers all liabilities, and it stays while it may be needed. */
function checkCollateral(picture: Picture, address: Address, collateral: StateOf<'CreatorCollateral'>): void {
  const { deposited, slashed, owed, forfeited, returned, listing, openDisputes } = collateral;
  holds(slashed <= deposited && owed + forfeited <= slashed, 'I7, collateral is never negative', address);
  const disputes = [...picture.chain.disputes.values()].filter((dispute) => dispute.listing === listing);
  const open = disputes.filter(({ outcome }) => outcome === 'open');
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  holds(open.length === openDisputes, 'I7, open disputes are counted', address);
  holds(sum(disputes.map((dispute) => dispute.owed)) === owed, 'I7, what is owed is counted', address);
  holds(sum(disputes.map(({ amountSlashed }) => amountSlashed)) === slashed, 'I7, slashes are counted', address);
  const toCallers = sum(disputes.map(({ amountToCaller }) => amountToCaller));
  const swept = picture.chain.swept.get(listing) ?? 0n;
  holds(toCallers + forfeited + swept === slashed, 'I7, a slash goes to callers, then to the treasury', address);
  const { token } = picture.chain.last(text(program.findCollateralVault(key(listing))));
  const liability = owed + forfeited + (returned ? 0n : deposited - slashed);
  holds((token?.amount ?? 0n) >= liability, 'I7, the vault covers its liabilities', address);
  const isSpent = returned && owed === 0n && forfeited === 0n;
  holds(token !== undefined || isSpent, 'I7, the vault is there as long as needed', address);
  if (returned) checkReturn(picture, listing);
}

function checkReturn(picture: Picture, listing: Address): void {
  for (const record of picture.all('ExecutionRecord').values()) {
    if (record.listing !== listing) continue;
    const { status, refundAt, settledAt, disputeWindowSeconds } = record;
    const disputable = status === 'completed' && picture.now < settledAt + BigInt(disputeWindowSeconds);
    const settleable = status === 'open' && picture.now < refundAt;
    const undisputed = !picture
      .all('Dispute')
      .has(text(program.findDispute(program.findExecution(fromHex(record.executionId)))));
    holds(!settleable && !(disputable && undisputed), 'I7, no return while a window is open', listing);
  }
}

function checkDispute({ chain, cheapest }: Picture, address: Address, dispute: StateOf<'Dispute'>): void {
  const { state, lamports } = chain.last(address);
  holds(lamports >= rentOf(state!.bytes, cheapest) + dispute.bond, 'a dispute holds its bond', address);
  const record = chain.records.get(dispute.record)!;
  const same = (['executionId', 'listing', 'caller', 'price'] as const).every((name) => record[name] === dispute[name]);
  holds(same && record.status === 'completed', 'record and dispute agree', address);
  holds(dispute.amountToCaller <= record.price && dispute.owed <= dispute.amountToCaller, 'awards', address);
}

/** I13: the spend of a live grant equals the price of its executions that were not refunded. */
function checkGrant(picture: Picture, address: Address, grant: StateOf<'KeyGrant'>): void {
  if (grant.revoked) return;
  let [spent, inPeriod] = [0n, 0n];
  for (const record of picture.chain.records.values()) {
    const { caller, keyId, openedAt, status, price } = record;
    const paid = caller === grant.wallet && keyId === grant.keyId && openedAt >= grant.createdAt;
    if (!paid || status === 'refunded') continue;
    spent += price;
    if (openedAt >= grant.periodStart) inPeriod += price;
  }
  holds(spent === grant.totalSpent, 'I13, total spend', `${address} says ${grant.totalSpent}, records ${spent}`);
  // After an update of the period's length, the spend of the old period counts in the new one.
  holds(
    inPeriod <= grant.periodSpent,
    'I13, period spend',
    `${address} says ${grant.periodSpent}, records ${inPeriod}`,
  );
}

/** The change of one address by a step. */
export interface Change {
  address: Address;
  before: Entry;
  after: Entry;
}

/**
 * I3 and I4: ids never recur, and the payments when a record leaves its escrow. The model has all other changes, and
 * those of a transaction with two instructions, whose payments add up (`isAlone` is false).
 */
export function checkChanges(chain: Chain, changes: Change[], isAlone: boolean): void {
  const gain = (address: Address) => {
    const change = changes.find((candidate) => candidate.address === address);
    return change ? (change.after.token?.amount ?? 0n) - (change.before.token?.amount ?? 0n) : 0n;
  };
  for (const { address, before, after } of changes) {
    const [was, is] = [before.state, after.state];
    const name = was?.name ?? is?.name;
    if (name === 'ExecutionRecord') {
      const [old, record] = [was?.value, is?.value] as (StateOf<'ExecutionRecord'> | undefined)[];
      if (!old && record) {
        holds(!chain.opened.has(address), 'an id never recurs', address);
        chain.opened.add(address);
      }
      if (!isAlone) continue;
      // An open record's lamports change too, if another record's rent goes to it.
      if (old?.status === 'open' && record && record.status !== 'open') checkPayment(record, gain, changes);
    }
    if (name === 'Deposit' && isAlone && was && !is)
      checkDeposit(address, was.value as StateOf<'Deposit'>, gain, changes);
    if (name === 'CreatorCollateral' && isAlone && was && is) {
      checkSweep(chain, was.value as StateOf<'CreatorCollateral'>, is.value as StateOf<'CreatorCollateral'>, {
        paid: changes.some(({ before, after }) => (before.state ?? after.state)?.name === 'Dispute'),
        gained: gain(TREASURY),
      });
    }
  }
}

/** I7: forfeits leave the vault for a caller in a dispute, or for the treasury, which gets them whole. */
function checkSweep(
  chain: Chain,
  old: StateOf<'CreatorCollateral'>,
  { listing, forfeited, openDisputes }: StateOf<'CreatorCollateral'>,
  { paid, gained }: { paid: boolean; gained: bigint },
): void {
  if (paid || forfeited === old.forfeited) return;
  holds(forfeited === 0n && gained === old.forfeited, 'I7, forfeits go to the treasury', listing);
  holds(openDisputes === 0, 'I7, forfeits wait for open disputes', listing);
  chain.swept.set(listing, (chain.swept.get(listing) ?? 0n) + gained);
}

/** The content of a closed deposit goes to one receiver, except for at most the service fee. */
function checkDeposit(
  address: Address,
  { price, serviceFee }: StateOf<'Deposit'>,
  gain: (of: Address) => bigint,
  changes: Change[],
): void {
  const held = -gain(text(program.findTokenAccount(key(address), MINT)));
  const others = changes.filter((change) => change.address !== TREASURY && gain(change.address) > 0n);
  const paid = others.reduce((total, change) => total + gain(change.address), 0n);
  const fee = gain(TREASURY);
  holds(paid + fee === held && others.length <= 1, 'a deposit pays what it holds to one side', address);
  // A relay gives it all of a deposit that is not fully paid if its caller's account cannot receive.
  const isRest = paid === 0n && held < price + serviceFee;
  holds(fee === 0n || isRest || (fee === serviceFee && paid >= price), "the treasury's share of a deposit", address);
}

/** I3 and I4: the escrow pays either creator and marketplace, with the fee rounded down, or the caller. */
function checkPayment(record: StateOf<'ExecutionRecord'>, gain: (of: Address) => bigint, changes: Change[]): void {
  const escrow = text(program.findEscrow(program.findExecution(fromHex(record.executionId))));
  const held = -gain(escrow);
  const receivers = changes.filter(({ address }) => gain(address) > 0n).map(({ address }) => address);
  const others = receivers.filter((address) => address !== TREASURY);
  const paid = others.reduce((total, address) => total + gain(address), 0n);
  holds(paid + gain(TREASURY) === held, 'I3, a record pays what it holds', record.executionId);
  holds(others.length <= 1, 'I3, a record pays one side', `${others}`);
  if (record.status === 'refunded') {
    holds(paid === held, 'I3, a refund is whole', record.executionId);
    return;
  }
  // If a frozen treasury waives the fee, fee_bps is 0 and the creator gets everything.
  const fee = (record.price * BigInt(record.feeBps)) / 10_000n;
  const dust = held - record.price;
  const whole = record.feeBps === 0 && gain(TREASURY) === 0n;
  holds(paid === (whole ? held : record.price - fee), 'I4, creator and fee make the price', record.executionId);
  holds(gain(TREASURY) === (whole ? 0n : fee + dust), 'I4, the fee is rounded down', record.executionId);
}
