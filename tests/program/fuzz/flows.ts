/**
 * Checks the exact lamport flows of each transaction from the accounts before and after alone: of record, escrow, gas
 * balance, rent sponsor, relay and dispute. No other balance may change, except that of the payer who lends.
 */
import * as program from '../../../app/sdk/program/program.ts';
import { CALLERS, FEE_PAYER, gasBalance, MINT, nickname } from './cast.ts';
import type { Chain } from './chain.ts';
import { type Change, holds } from './invariants.ts';
import { type Address, key, type StateOf, text } from './ledger.ts';
import { CONFIG, relaysOf } from './rules/config.ts';
import { NO_KEY } from './rules/grants.ts';
import { fromHex } from './steps/plan.ts';

type Record = StateOf<'ExecutionRecord'>;

/** Lamports that each address gained in a transaction, negative if lost, without the network fee. */
class Gains {
  private readonly gains = new Map<Address, bigint>();

  constructor(readonly changes: Change[]) {
    for (const { address, before, after } of changes) this.gains.set(address, after.lamports - before.lamports);
    this.gains.delete(text(FEE_PAYER.publicKey));
    for (const { address, before, after } of changes) {
      if (before.state?.name !== 'Deposit' || after.state) continue;
      this.takeOut(address, (before.state.value as StateOf<'Deposit'>).rentSponsor);
    }
  }

  /** Assigns all lamports of a closed deposit and its vault to the sponsor. Other checks cover the rest. */
  private takeOut(deposit: Address, sponsor: Address): void {
    let lent = 0n;
    for (const address of [deposit, text(program.findTokenAccount(key(deposit), MINT))]) {
      lent -= this.of(address);
      this.gains.delete(address);
    }
    this.gains.set(sponsor, this.of(sponsor) - lent);
  }

  of(address: Address): bigint {
    return this.gains.get(address) ?? 0n;
  }

  /** Changed balances of all other addresses. */
  besides(...addresses: Address[]): [Address, bigint][] {
    return [...this.gains].filter(([address, gain]) => gain !== 0n && !addresses.includes(address));
  }

  /** Lamports of an address before the transaction. */
  before(address: Address): bigint {
    return this.changes.find((change) => change.address === address)?.before.lamports ?? 0n;
  }
}

export function checkFlows(chain: Chain, changes: Change[]): void {
  const gains = new Gains(changes);
  let opener: Address | null = null;
  /** Closed accounts with their sponsors. */
  const closed = new Map<Address, Address>();
  for (const { address, before, after } of changes) {
    const kind = before.state?.name ?? after.state?.name;
    if (kind === 'ExecutionRecord') {
      const [old, record] = [before.state?.value, after.state?.value] as (Record | undefined)[];
      if (!old && record) checkOpen(chain, gains, address, record);
      if (!old && record && record.keyId !== NO_KEY) opener = record.caller;
      if (old?.status === 'open' && record) checkEnd(chain, gains, address, record);
      if (old && !record) closed.set(address, old.rentSponsor);
    }
    if (kind === 'Deposit') checkDeposited(gains, address, after.state !== undefined);
    if (kind === 'Dispute' && !after.state) {
      closed.set(address, (before.state!.value as StateOf<'Dispute'>).rentSponsor);
    }
  }
  if (closed.size > 0) checkClosed(gains, closed);
  for (const caller of CALLERS) {
    const gain = gains.of(gasBalance(caller));
    const taken = gain === -gains.of(text(caller)) && gains.besides(gasBalance(caller), text(caller)).length === 0;
    holds(
      gain >= 0n || opener === text(caller) || taken,
      'a gas balance pays gas, rent and its wallet',
      gasBalance(caller),
    );
  }
}

const larger = (left: bigint, right: bigint) => (left > right ? left : right);
const escrowOf = (record: Address) => text(program.findEscrow(key(record)));

/** One payer lends a new deposit's rent. A closed one moves nothing else, unless it opens an execution. */
function checkDeposited(gains: Gains, address: Address, isThere: boolean): void {
  const vault = text(program.findTokenAccount(key(address), MINT));
  const others = gains.besides(address, vault);
  if (isThere) {
    const lent = others.reduce((total, [, gain]) => total - gain, 0n);
    holds(others.length <= 1 && lent === gains.of(address) + gains.of(vault), 'one payer lends a deposit', address);
    return;
  }
  const opens = gains.changes.some(({ after }) => after.state?.name === 'ExecutionRecord');
  holds(opens || others.length === 0, 'a refunded deposit gives its rent back', address);
}

/**
 * Record and escrow hold their rent and the gas. With a grant the gas balance paid the gas and a fee within the grant's
 * limit, and lent the rent of the record if it is the sponsor, and that of the escrow if the record says so.
 */
function checkOpen(chain: Chain, gains: Gains, address: Address, record: Record): void {
  const { vm } = chain;
  const { lamports, state } = chain.last(address);
  const gas = BigInt(record.gasLamports);
  const [giver, escrow] = [gasBalance(key(record.caller)), escrowOf(address)];
  const byGrant = record.keyId !== NO_KEY;
  const gasBalanceLends = byGrant && record.rentSponsor === giver;
  const gasBalanceLendsEscrow = record.spenderBump !== 0;
  holds(gasBalanceLendsEscrow ? byGrant : !gasBalanceLends, 'a record says who lent its escrow', address);
  const rent = vm.rent(state!.bytes);
  const there = gains.before(address);
  const parked = byGrant && !gasBalanceLends ? larger(there, rent) + gas : larger(there, rent + gas);
  holds(lamports === parked, 'a record holds its rent and its gas', `${address}: ${lamports}, not ${parked}`);
  const held = larger(gains.before(escrow), vm.rent(165));
  holds(chain.last(escrow).lamports === held, 'an escrow holds its rent', address);
  const all = gains.of(address) + gains.of(escrow);
  const share =
    (gasBalanceLends ? gains.of(address) : byGrant ? gas : 0n) + (gasBalanceLendsEscrow ? gains.of(escrow) : 0n);
  const fee = -gains.of(giver) - share;
  const mostFee = byGrant ? mostGas(chain, record) - gas : 0n;
  holds(fee >= 0n && fee <= mostFee, "a gas balance's share", `${giver} gave ${-gains.of(giver)}, not ${share}`);
  const lenders = gains.besides(address, escrow, giver);
  const lent = lenders.reduce((total, [, gain]) => total - gain, 0n);
  holds(lenders.length <= 1 && lent === all - share - fee, 'one payer lends the rent and gets the fee', address);
}

/** The limit of the grant that paid on fee and gas. */
function mostGas(chain: Chain, { caller, keyId }: Record): bigint {
  const grant = chain.last(text(program.findGrant(key(caller), fromHex(keyId)))).state;
  return BigInt((grant!.value as StateOf<'KeyGrant'>).maxGasLamports);
}

/**
 * The escrow's rent goes to its lender: the sponsor or the gas balance. One account takes gas: a relay authority, the
 * sponsor, or, at a refund of a grant's open, the gas balance or the caller. The rest goes back to its giver: the gas
 * balance of a grant's wallet, else the sponsor. Otherwise both stay in the record.
 */
function checkEnd(chain: Chain, gains: Gains, address: Address, record: Record): void {
  const escrow = escrowOf(address);
  const relays = relaysOf(chain.last(CONFIG).state!.value as StateOf<'Config'>);
  const lender = record.spenderBump === 0 ? record.rentSponsor : gasBalance(key(record.caller));
  const others = gains.besides(address, escrow, lender);
  const byGrant = record.keyId !== NO_KEY;
  const giver = byGrant ? gasBalance(key(record.caller)) : record.rentSponsor;
  const takers = [...relays, record.rentSponsor, ...(byGrant && record.status === 'refunded' ? [record.caller] : [])];
  const taking = others.filter(([other]) => other !== giver);
  const paid = others.reduce((total, [, gain]) => total + gain, 0n);
  const who = others.map(([other]) => nickname(other)).join(' ');
  holds(
    taking.length <= 1 && taking.every(([other]) => takers.includes(other)),
    'only a relay or the giver is paid',
    who,
  );
  holds(paid >= 0n && paid <= BigInt(record.gasLamports), 'they get the gas and no more', `${paid}`);
  const kept = gains.of(address) + gains.of(lender) + paid;
  // If neither lender nor record can take it after the rent has risen, it stays in the escrow.
  const gone = chain.last(escrow).lamports === 0n || gains.of(escrow) === 0n;
  holds(gone && kept === -gains.of(escrow), 'rent goes back', `${kept} of ${address}`);
  holds(gains.of(address) >= -BigInt(record.gasLamports), 'a record gives its gas and no more', address);
}

/** All lamports of closed accounts go to their sponsors, and nobody else's balance changes. */
function checkClosed(gains: Gains, closed: Map<Address, Address>): void {
  const due = new Map<Address, bigint>();
  for (const [address, sponsor] of closed) due.set(sponsor, (due.get(sponsor) ?? 0n) + gains.before(address));
  for (const [sponsor, lamports] of due) {
    const gain = gains.of(sponsor);
    holds(
      gain === lamports,
      'a closed account gives everything back',
      `${nickname(sponsor)}: ${gain}, not ${lamports}`,
    );
  }
  holds(gains.besides(...closed.keys(), ...due.keys()).length === 0, 'closing moves nobody else', `${[...closed]}`);
}
