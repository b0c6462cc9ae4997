/** Steps of deposits: prepare, pay, open, refund. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { CALLERS, COLD, CREATORS, MINT, STRANGER, spareAccount, TREE, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Address, key, type Ledger, text } from '../ledger.ts';
import { config, relaysOf } from '../rules/config.ts';
import * as rules from '../rules/deposits.ts';
import { receivesFor } from '../rules/token.ts';
import { openListing, reviveListings, someRelay, someSponsor, someTerms, stick } from './executions.ts';
import { type Planner, plan, type Scene, somePayer, until } from './plan.ts';

/** The quote that a sequence has made for an address. */
interface Quoted {
  terms: program.OpenTerms;
  quote: program.DepositQuote;
  caller: PublicKey;
}

/** By the nonces of a sequence, which all its scenes share. */
const QUOTED = new WeakMap<Uint8Array[], Map<Address, Quoted>>();

function quotedIn({ nonces }: Scene): Map<Address, Quoted> {
  const quoted = QUOTED.get(nonces) ?? new Map<Address, Quoted>();
  QUOTED.set(nonces, quoted);
  return quoted;
}

/** A quote for a caller, who is named in it or not. Sometimes its price differs from the listing's. */
function someQuote(scene: Scene, draw: Draw): Quoted | null {
  const caller = draw.of(CALLERS);
  const found = openListing(scene.ledger, draw, 100_000_000n);
  if (!found) return null;
  const [address, listing] = found;
  const terms = someTerms(scene, draw, caller, listing);
  const price = draw.maybe(6) ? listing.price + draw.of([1n, -1n]) : listing.price;
  const serviceFee = draw.maybe(6) ? 50_001n : draw.of([5_000n, 0n, 1n, 50_000n]);
  const payer = draw.maybe(30) ? null : caller;
  return {
    terms,
    caller,
    quote: { terms: { ...terms, listing: key(address) }, payer, price, serviceFee, usdcMint: MINT },
  };
}

export const prepareDeposit: Planner = (scene, draw) => {
  const { ledger } = scene;
  const known = [...quotedIn(scene)].filter(([address]) => !ledger.find('Deposit', address));
  const waiting = known.filter(([address]) => rules.heldBy(ledger, address) > 0n);
  const isRescue = waiting.length > 0 && draw.maybe(60);
  const again = isRescue ? draw.of(waiting)[1] : draw.maybe(10) && known.length > 0 ? draw.of(known)[1] : null;
  const offered = again ?? someQuote(scene, draw);
  if (!offered) return reviveListings(scene, draw);
  const { quote } = offered;
  const { address, vault } = program.depositAddress(quote);
  quotedIn(scene).set(text(address), offered);
  const authority = isRescue ? STRANGER : someRelay(config(ledger), draw);
  const rentPayer = somePayer(ledger, draw, authority);
  const record = program.findExecution(offered.terms.executionId);
  const input = {
    ...quote,
    authority,
    rentPayer,
    // The record that a deposit opens, and its escrow, can be its sponsors.
    rentSponsor: draw.maybe(6)
      ? draw.of([address, vault])
      : draw.of([rentPayer, COLD, CREATORS[0]!, ...(draw.maybe(20) ? [record, program.findEscrow(record)] : [])]),
    caller: draw.maybe(4) ? STRANGER : offered.caller,
  };
  return plan('DepositPrepared', program.prepareDeposit, input, rules.prepareDeposit);
};

/** The caller or another payer pays a deposit, usually in full, or pays a quote that was not prepared. */
export const payDeposit: Planner = (scene, draw) => {
  const { ledger } = scene;
  const quoted = [...quotedIn(scene)];
  const late = draw.maybe(10);
  const unpaid = quoted.filter(([address, { quote }]) => {
    const deposit = ledger.find('Deposit', address);
    const isAwaited = deposit !== null && (late || ledger.now < deposit.expiresAt);
    return isAwaited && rules.heldBy(ledger, address) < rules.askedOf(quote);
  });
  const bare = quoted.filter(([address]) => !ledger.find('Deposit', address));
  const payable = bare.length > 0 && draw.maybe(10) ? bare : unpaid;
  if (payable.length === 0) return prepareDeposit(scene, draw);
  const [address, { quote, caller }] = draw.of(payable);
  const vault = rules.vaultOf(address);
  const asked = rules.askedOf(quote) - rules.heldBy(ledger, address);
  const amount = draw.maybe(20) ? draw.of([asked - 1n, asked + 1n, 1n]) : asked;
  const funds = ledger.get(wallet(caller)).token;
  const from = funds && !funds.frozen && funds.owner === text(caller) && funds.amount >= amount ? caller : STRANGER;
  const isFrozen = ledger.token(wallet(from)).frozen || ledger.get(vault).token?.frozen;
  if (isFrozen || amount <= 0n) return null;
  return {
    name: 'pay',
    happen: (target) => {
      if (!target.get(vault).token) target.createToken(vault, text(STRANGER), address);
      target.transfer(wallet(from), vault, amount, text(from));
    },
  };
};

/** A deposit with its quote, usually one that is wanted. */
function someDeposit(scene: Scene, draw: Draw, wanted: (address: Address, deposit: rules.Deposit) => boolean) {
  const found = draw.prefer(scene.ledger.all('Deposit'), ([address, deposit]) => wanted(address, deposit));
  const offered = found && quotedIn(scene).get(found[0]);
  return found && offered ? { address: found[0], deposit: found[1], offered } : null;
}

export const openExecutionFromDeposit: Planner = (scene, draw) => {
  const { ledger } = scene;
  const takes = (address: Address) => {
    const { listing, listingVersion } = quotedIn(scene).get(address)!.quote.terms as program.DepositTerms;
    const present = ledger.find('AgentListing', text(listing))!;
    return present.status === 'active' && present.listingVersion === listingVersion;
  };
  const isReady = (address: Address, deposit: rules.Deposit) =>
    ledger.now < deposit.expiresAt && rules.heldBy(ledger, address) >= rules.askedOf(deposit) && takes(address);
  const found = someDeposit(scene, draw, isReady);
  if (!found) return payDeposit(scene, draw);
  const { terms, quote, caller } = found.offered;
  const { listing } = quote.terms as program.DepositTerms;
  const relayAuthority = someRelay(config(ledger), draw);
  const payer = somePayer(ledger, draw, relayAuthority);
  const faults = [
    { requestHash: new Uint8Array(32).fill(6) },
    { timeoutSeconds: terms.timeoutSeconds + 1 },
    { quotedPayer: quote.payer ? null : caller },
    { depositRentSponsor: STRANGER },
  ];
  const input = {
    ...{ ...terms, openBefore: ledger.now, relayAuthority, payer, listing, usdcMint: MINT },
    rentSponsor: someSponsor(ledger, draw, payer, caller, terms.executionId),
    ...{ deposit: key(found.address), quotedPayer: quote.payer, depositRentSponsor: key(found.deposit.rentSponsor) },
    ...(draw.maybe(8) ? draw.of(faults) : {}),
  };
  return plan('ExecutionOpened', program.openExecutionFromDeposit, input, rules.openExecutionFromDeposit);
};

export const refundDeposit: Planner = (scene, draw) => {
  const { ledger } = scene;
  const isUsable = (address: Address, { caller }: rules.Deposit) =>
    rules.heldBy(ledger, address) === 0n || receivesFor(ledger, wallet(key(caller)), caller);
  const found = someDeposit(scene, draw, isUsable);
  if (!found) return payDeposit(scene, draw);
  const { address, deposit } = found;
  const caller = key(deposit.caller);
  const due = rules.refundableFrom(ledger, address, deposit);
  if (ledger.now < due && draw.maybe(50)) return until(ledger, [due, due - 1n]);
  const anyone = ledger.now >= due || draw.maybe(10);
  const relays = relaysOf(config(ledger)).map(key);
  const authority = anyone || relays.length === 0 ? draw.of([STRANGER, caller, ...relays]) : draw.of(relays);
  const own = authority.equals(caller) ? [wallet(caller), spareAccount(caller)] : [wallet(caller)];
  const input = {
    ...{ authority, deposit: key(address), usdcMint: MINT },
    destination: key(draw.maybe(5) ? draw.of([spareAccount(caller), wallet(STRANGER)]) : draw.of(own)),
    rentSponsor: draw.maybe(4) ? STRANGER : key(deposit.rentSponsor),
  };
  return plan('DepositRefunded', program.refundDeposit, input, rules.refundDeposit);
};

export const moveUnclaimedDeposit: Planner = (scene, draw) => {
  const { ledger } = scene;
  const found = someDeposit(scene, draw, (address) => rules.heldBy(ledger, address) > 0n);
  if (!found) return payDeposit(scene, draw);
  const { address, deposit } = found;
  const caller = key(deposit.caller);
  const account = wallet(caller);
  const isStuck = !receivesFor(ledger, account, deposit.caller);
  const due = rules.movableAt(ledger, address, deposit);
  if (!(isStuck && ledger.now >= due) && !draw.maybe(8)) return stick(account, isStuck, due);
  const input = {
    authority: draw.of([STRANGER, caller, ...relaysOf(config(ledger)).map(key)]),
    ...{ deposit: key(address), caller: draw.maybe(4) ? draw.of(CALLERS) : caller },
    rentSponsor: draw.maybe(4) ? STRANGER : key(deposit.rentSponsor),
    ...{ archiveIndex: 0, tree: TREE, usdcMint: MINT },
  };
  return plan('DepositRefunded', program.moveUnclaimedDeposit, input, rules.moveUnclaimedDeposit);
};

/** All times at which something becomes possible or impossible for a deposit. */
export function depositEdges(ledger: Ledger): bigint[] {
  return [...ledger.all('Deposit')].flatMap(([, { expiresAt, preparedAt }]) => [
    ...[expiresAt, preparedAt + 86_400n].flatMap((from) => [from, from + 3_600n]),
  ]);
}
