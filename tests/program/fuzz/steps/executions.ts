/** Steps of paid calls: both opens, settle, refund, close. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../../app/sdk/receipt/receipt.ts';
import { CALLERS, MINT, purse, RELAYS, SIGNING_KEYS, SPONSOR, STRANGER, wallet } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Address, key, type Ledger, text } from '../ledger.ts';
import { config } from '../rules/config.ts';
import * as rules from '../rules/executions.ts';
import { available, collateralOf, type Listing } from '../rules/listings.ts';
import { type Proof, result } from '../rules/proof.ts';
import { frozenOrGone, receivesFor } from '../rules/token.ts';
import { someGrant } from './grants.ts';
import { listAgent, setListingStatus, signerOf, someListing } from './listings.ts';
import { bytesOf, fromHex, type Planner, plan, type Scene, somePayer } from './plan.ts';

const RESULTS = [0xab, 0xcd].map((byte) => new Uint8Array(32).fill(byte));
const REQUEST = new Uint8Array(32).fill(5);

/** A record, most often one that is wanted. */
export function someRecord(ledger: Ledger, draw: Draw, wanted: (record: rules.ExecutionRecord) => boolean) {
  return draw.prefer(ledger.all('ExecutionRecord'), ([, record]) => wanted(record))?.[1];
}

/** A listing that takes an execution at its price, as far as its limits go. */
function openListing(ledger: Ledger, draw: Draw, most: bigint) {
  const settings = config(ledger);
  const takes = ({ status, price, minTimeoutSeconds }: Listing, address: Address) => {
    const collateral = ledger.find('CreatorCollateral', collateralOf(address))!;
    const limit = available(collateral) * BigInt(settings.exposureMultiple);
    const exposed = settings.exposureMultiple > 0 && collateral.exposureOpened + price > limit;
    return status === 'active' && price <= most && !exposed && minTimeoutSeconds <= settings.maxTimeoutSeconds;
  };
  return someListing(ledger, draw, takes);
}

/** Where no listing takes an execution: resume one, or list another. */
const reviveListings: Planner = (scene, draw) => setListingStatus(scene, draw) ?? listAgent(scene, draw);

/** The terms of an open, which fit the listing but for one fault now and then. */
function someTerms(scene: Scene, draw: Draw, caller: PublicKey, listing: Listing): program.OpenTerms {
  const { now } = scene.ledger;
  const { maxTimeoutSeconds } = config(scene.ledger);
  const fault = draw.maybe(12)
    ? draw.of(['nonce', 'nonce', 'price', 'older', 'newer', 'short', 'long', 'late', 'id'] as const)
    : 'none';
  if (fault !== 'nonce' || scene.nonces === 0) scene.nonces += 1;
  const number = fault === 'nonce' ? draw.of([0, 1, 2, 3, 4, 5]) % scene.nonces : scene.nonces - 1;
  const nonce = bytesOf(number + 1, 16);
  const terms = {
    nonce,
    executionId: deriveExecutionId(caller.toBytes(), nonce),
    maxPrice: listing.price + draw.of([0n, 1n]),
    listingVersion: listing.listingVersion,
    timeoutSeconds: draw.of([Math.min(listing.timeoutSeconds, maxTimeoutSeconds), listing.minTimeoutSeconds]),
    requestHash: REQUEST,
    openBefore: now + draw.of([0n, 60n]),
  };
  const faults = {
    none: {},
    nonce: {},
    price: { maxPrice: listing.price - 1n },
    older: { listingVersion: listing.listingVersion - 1 },
    newer: { listingVersion: listing.listingVersion + 1 },
    short: { timeoutSeconds: listing.minTimeoutSeconds - 1 },
    long: { timeoutSeconds: listing.timeoutSeconds + 1 },
    late: { openBefore: now - 1n },
    id: { executionId: deriveExecutionId(STRANGER.toBytes(), nonce) },
  };
  return { ...terms, ...faults[fault] };
}

export const openExecution: Planner = (scene, draw) => {
  const { ledger } = scene;
  const funds = (account: Address) => {
    const { token } = ledger.get(account);
    return token && !token.frozen ? token.amount : 0n;
  };
  const caller = draw.lean(CALLERS, (candidate) => funds(wallet(candidate)) > 5_000_000n);
  const source = draw.lean([wallet(caller), purse(caller)], (account) => funds(account) > 2_000_000n);
  const found = openListing(ledger, draw, funds(source));
  if (!found) return reviveListings(scene, draw);
  const [address, listing] = found;
  const input = {
    ...someTerms(scene, draw, caller, listing),
    ...{ caller, payer: somePayer(ledger, draw, caller), listing: key(address) },
    ...{ source: key(draw.maybe(4) ? purse(STRANGER) : source), usdcMint: MINT },
  };
  return plan('open_execution', 'ExecutionOpened', program.openExecution(input), (target) =>
    rules.openExecution(target, input),
  );
};

export const openExecutionWithGrant: Planner = (scene, draw) => {
  const { ledger } = scene;
  const settings = config(ledger);
  const allowed = (owner: Address) => {
    const { token } = ledger.get(wallet(key(owner)));
    const spends = token?.delegate === text(program.findSpender(key(owner))) && !token.frozen;
    if (!spends) return 0n;
    return smaller(token.amount, token.delegatedAmount);
  };
  const grant = someGrant(ledger, draw, (candidate) => allowed(candidate.wallet) > 0n);
  if (!grant) return openExecution(scene, draw);
  const left = [grant.perExecutionMax, grant.totalMax - grant.totalSpent, allowed(grant.wallet)];
  const most = left.reduce(smaller);
  const found = openListing(ledger, draw, most);
  if (!found) return openExecution(scene, draw);
  const [address, listing] = found;
  const owner = key(grant.wallet);
  const input = {
    ...someTerms(scene, draw, owner, listing),
    relayAuthority: draw.maybe(4) ? draw.of([STRANGER, ...RELAYS]) : key(settings.relayAuthority),
    ...{ payer: SPONSOR, listing: key(address), wallet: owner, keyId: fromHex(grant.keyId), usdcMint: MINT },
  };
  return plan('open_execution_with_grant', 'ExecutionOpened', program.openExecutionWithGrant(input), (target) =>
    rules.openExecutionWithGrant(target, input),
  );
};

/** The signature that settles, or one of the things that must not. */
function someProof(draw: Draw, record: rules.ExecutionRecord, resultHash: Uint8Array, present: Address): Proof {
  const by = signerOf(record.signingKey);
  const message = result(resultHash);
  const other = present === record.signingKey ? SIGNING_KEYS.find((pair) => pair !== by)! : signerOf(present);
  const faults: Proof[] = [
    'nothing',
    'other program',
    { by: other, message },
    { by, message: result(new Uint8Array(32).fill(1)) },
    { by, message: message.subarray(1) },
    { by, message, broken: true },
  ];
  return draw.maybe(10) ? draw.of(faults) : { by, message };
}

export const settleExecution: Planner = (scene, draw) => {
  const { ledger } = scene;
  const due = ({ status, refundAt, listing }: rules.ExecutionRecord) =>
    status === 'open' && ledger.now < refundAt && !frozenOrGone(ledger, ledger.find('AgentListing', listing)!.payout);
  const record = someRecord(ledger, draw, due);
  if (!record) return openExecutionWithGrant(scene, draw);
  const resultHash = draw.of(RESULTS);
  const listings = [...ledger.all('AgentListing')].map(([address]) => address);
  const listing = draw.maybe(4) ? draw.of(listings) : record.listing;
  const { payout, signingKey } = ledger.find('AgentListing', listing)!;
  const proof = someProof(draw, record, resultHash, signingKey);
  const input = {
    relayAuthority: draw.maybe(4) ? draw.of([STRANGER, ...RELAYS]) : key(config(ledger).relayAuthority),
    executionId: fromHex(record.executionId),
    listing: key(listing),
    payout: key(draw.maybe(4) ? wallet(STRANGER) : payout),
    rentSponsor: draw.maybe(4) ? STRANGER : key(record.rentSponsor),
    resultHash,
    executionTimeMs: draw.of([1_250, 0, 0xffff_ffff]),
  };
  const rule = (target: Ledger) => rules.settleExecution(target, input, proof);
  return plan('settle_execution', 'ExecutionSettled', program.settleExecution(input), rule, proof);
};

export const refundExecution: Planner = (scene, draw) => {
  const { ledger } = scene;
  const { relayAuthority } = config(ledger);
  const open = ({ status, caller }: rules.ExecutionRecord) =>
    status === 'open' && receivesFor(ledger, wallet(key(caller)), caller);
  const record = someRecord(ledger, draw, open);
  if (!record) return openExecution(scene, draw);
  const caller = key(record.caller);
  const anyone = ledger.now >= record.refundAt || draw.maybe(8);
  const authority = anyone ? draw.of([STRANGER, caller, key(relayAuthority)]) : key(relayAuthority);
  const own = authority.equals(caller) ? [wallet(caller), purse(caller)] : [wallet(caller)];
  const destination = key(draw.maybe(5) ? draw.of([purse(caller), wallet(STRANGER)]) : draw.of(own));
  const input = {
    ...{ authority, executionId: fromHex(record.executionId), caller, destination },
    keyId: draw.maybe(4) ? bytesOf(2, 16) : fromHex(record.keyId),
    rentSponsor: draw.maybe(4) ? STRANGER : key(record.rentSponsor),
    reason: draw.of(program.REFUND_REASONS),
  };
  return plan('refund_execution', 'ExecutionRefunded', program.refundExecution(input), (target) =>
    rules.refundExecution(target, input),
  );
};

export const closeExecution: Planner = ({ ledger }, draw) => {
  const old = ({ status, openedAt }: rules.ExecutionRecord) =>
    status === 'refunded' && ledger.now >= openedAt + BigInt(program.constants.refundedRecordSeconds);
  const record = someRecord(ledger, draw, old);
  if (!record) return null;
  const rentSponsor = draw.maybe(8) ? STRANGER : key(record.rentSponsor);
  const input = { executionId: fromHex(record.executionId), rentSponsor };
  return plan('close_execution', 'ExecutionClosed', program.closeExecution(input), (target) =>
    rules.closeExecution(target, input),
  );
};

/** The smaller of two amounts; Math.min takes no bigint. */
function smaller(left: bigint, right: bigint): bigint {
  if (left < right) return left;
  return right;
}
