/** Steps of paid calls: both opens, settle, refund, close. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../../app/sdk/receipt/receipt.ts';
import {
  CALLERS,
  COLD,
  CREATORS,
  gasBalance,
  MINT,
  RELAYS,
  SIGNING_KEYS,
  STRANGER,
  spareAccount,
  TREE,
  wallet,
} from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Address, key, type Ledger, text } from '../ledger.ts';
import { type Config, config, relaysOf } from '../rules/config.ts';
import * as rules from '../rules/executions.ts';
import { MAX_GAS } from '../rules/grants.ts';
import { available, collateralOf, type Listing } from '../rules/listings.ts';
import { type Proof, result, signatureOf } from '../rules/proof.ts';
import { receivesFor } from '../rules/token.ts';
import { someGrant } from './grants.ts';
import { listAgent, mostly, setListingStatus, signerOf, someListing } from './listings.ts';
import {
  bytesOf,
  fromHex,
  type Happening,
  newNonce,
  type Planner,
  plan,
  type Scene,
  somePayer,
  until,
} from './plan.ts';

const RESULTS = [0xab, 0xcd].map((byte) => new Uint8Array(32).fill(byte));
const REQUEST = new Uint8Array(32).fill(5);

/** A record, usually one that is wanted. */
export function someRecord(ledger: Ledger, draw: Draw, wanted: (record: rules.ExecutionRecord) => boolean) {
  return draw.prefer(ledger.all('ExecutionRecord'), ([, record]) => wanted(record))?.[1];
}

/** A listing that accepts an execution at its price within its limits. */
export function openListing(ledger: Ledger, draw: Draw, most: bigint) {
  const settings = config(ledger);
  const takes = ({ status, price, minTimeoutSeconds }: Listing, address: Address) => {
    const collateral = ledger.find('CreatorCollateral', collateralOf(address))!;
    const limit = available(collateral) * BigInt(settings.exposureMultiple);
    const exposed = settings.exposureMultiple > 0 && collateral.exposureOpened + price > limit;
    return status === 'active' && price <= most && !exposed && minTimeoutSeconds <= settings.maxTimeoutSeconds;
  };
  return someListing(ledger, draw, takes);
}

/** Resumes a listing or lists another one, if no listing accepts an execution. */
export const reviveListings: Planner = (scene, draw) => setListingStatus(scene, draw) ?? listAgent(scene, draw);

const FAULTS = [
  ...(['nonce', 'nonce', 'stale', 'early', 'thirsty', 'price', 'older', 'newer', 'short', 'long'] as const),
  ...(['late', 'id'] as const),
];

/** The rent sponsor: usually the lender, otherwise the gas balance, an uninvolved account or one of the program. */
export function someSponsor(
  ledger: Ledger,
  draw: Draw,
  payer: PublicKey,
  caller: PublicKey,
  executionId: Uint8Array,
): PublicKey {
  const record = program.findExecution(executionId);
  if (draw.maybe(4)) return draw.of([record, program.findEscrow(record)]);
  if (draw.maybe(10))
    return key(draw.of([...ledger.entries()].flatMap(([at, { token, state }]) => (token || state ? at : []))));
  const balance = key(gasBalance(caller));
  return draw.of([payer, payer, balance, balance, COLD, CREATORS[0]!, program.findConfig()]);
}

/** Terms of an open that fit the listing, sometimes with one fault. */
export function someTerms(scene: Scene, draw: Draw, caller: PublicKey, listing: Listing): program.OpenTerms {
  const { now } = scene.ledger;
  const { maxTimeoutSeconds } = config(scene.ledger);
  const fault = draw.maybe(12) ? draw.of(FAULTS) : 'none';
  const ago = { none: draw.of([0, 0, 1]), stale: 2, early: -1 };
  const again = fault === 'nonce' ? draw.of([0, 1, 2, 3, 4, 5]) % Math.max(1, scene.nonces.length) : -1;
  const nonce = scene.nonces[again] ?? newNonce(scene, ago[fault === 'stale' || fault === 'early' ? fault : 'none']);
  if (again < 0) scene.nonces.push(nonce);
  const terms = {
    nonce,
    executionId: deriveExecutionId(caller.toBytes(), nonce),
    maxPrice: listing.price + draw.of([0n, 1n]),
    listingVersion: listing.listingVersion,
    timeoutSeconds: draw.of([Math.min(listing.timeoutSeconds, maxTimeoutSeconds), listing.minTimeoutSeconds]),
    requestHash: REQUEST,
    openBefore: now + draw.of([0n, 60n]),
    gasLamports: draw.of([10_000, 0, 1, 12_345, 20_000, MAX_GAS]),
  };
  const faults = {
    none: {},
    nonce: {},
    stale: {},
    early: {},
    thirsty: { gasLamports: MAX_GAS + 1 },
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

/** A present relay authority, sometimes somebody else. */
export function someRelay(settings: Config, draw: Draw): PublicKey {
  return draw.maybe(4) ? draw.of([STRANGER, ...RELAYS]) : key(draw.of(relaysNow(settings)));
}

/** The present relay authorities; former ones if the last was removed. */
function relaysNow(settings: Config): Address[] {
  const relays = relaysOf(settings);
  return relays.length > 0 ? relays : RELAYS.map(text);
}

export const openExecution: Planner = (scene, draw) => {
  const { ledger } = scene;
  const funds = (account: Address) => {
    const { token } = ledger.get(account);
    return token && !token.frozen ? token.amount : 0n;
  };
  const caller = draw.lean(CALLERS, (candidate) => funds(wallet(candidate)) > 5_000_000n);
  const source = draw.lean([wallet(caller), spareAccount(caller)], (account) => funds(account) > 2_000_000n);
  const found = openListing(ledger, draw, funds(source));
  if (!found) return reviveListings(scene, draw);
  const [address, listing] = found;
  const terms = someTerms(scene, draw, caller, listing);
  const payer = somePayer(ledger, draw, caller);
  const input = {
    ...{ ...terms, caller, payer, rentSponsor: someSponsor(ledger, draw, payer, caller, terms.executionId) },
    ...{ listing: key(address), source: key(draw.maybe(4) ? spareAccount(STRANGER) : source), usdcMint: MINT },
  };
  return plan('ExecutionOpened', program.openExecution, input, rules.openExecution);
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
  const terms = someTerms(scene, draw, owner, listing);
  // Usually fee and gas are at most what the grant allows.
  const isOver = draw.maybe(10);
  const gasLamports = isOver ? terms.gasLamports : Math.min(terms.gasLamports, grant.maxGasLamports);
  const fee = draw.of([0, 5_000, 1, MAX_GAS]);
  const feeLamports = isOver ? fee : Math.min(fee, grant.maxGasLamports - gasLamports);
  const relayAuthority = someRelay(settings, draw);
  const payer = somePayer(ledger, draw, relayAuthority);
  const input = {
    ...{ ...terms, gasLamports, feeLamports, spenderLendsEscrow: draw.maybe(2) },
    ...{ relayAuthority, payer, listing: key(address), wallet: owner, usdcMint: MINT },
    ...{ keyId: fromHex(grant.keyId), rentSponsor: someSponsor(ledger, draw, payer, owner, terms.executionId) },
  };
  return plan('ExecutionOpened', program.openExecutionWithGrant, input, rules.openExecutionWithGrant);
};

/** The gas that a relay takes: usually a part or all of it, sometimes too much. */
const someGas = (draw: Draw, { gasLamports }: rules.ExecutionRecord): number =>
  draw.maybe(8) ? gasLamports + 1 : draw.of([gasLamports, gasLamports, 0, Math.floor(gasLamports / 2)]);

/** The signature for a settle, sometimes an invalid one. */
function someProof(draw: Draw, record: rules.ExecutionRecord, resultHash: Uint8Array, present: Address): Proof {
  const by = signerOf(record.signingKey);
  const message = result(resultHash);
  const other = present === record.signingKey ? SIGNING_KEYS.find((pair) => pair !== by)! : signerOf(present);
  const faults: Proof[] = [
    { by: other, message },
    { by, message: result(new Uint8Array(32).fill(1)) },
    { by, message, broken: 31 },
    { by, message, broken: 32 },
  ];
  return draw.maybe(10) ? draw.of(faults) : { by, message };
}

export const settleExecution: Planner = (scene, draw) => {
  const { ledger } = scene;
  const places = ({ payout, creator }: Listing) => [payout, wallet(key(creator)), spareAccount(key(creator))];
  const usable = (listing: Listing) => places(listing).filter((place) => receivesFor(ledger, place, listing.creator));
  const due = ({ status, refundAt, listing }: rules.ExecutionRecord) =>
    status === 'open' && ledger.now < refundAt && usable(ledger.find('AgentListing', listing)!).length > 0;
  const record = someRecord(ledger, draw, due);
  if (!record) return openExecutionWithGrant(scene, draw);
  const resultHash = draw.of(RESULTS);
  const listing = mostly(ledger, draw, record.listing);
  const found = ledger.find('AgentListing', text(listing))!;
  const proof = someProof(draw, record, resultHash, found.signingKey);
  const payouts = draw.maybe(4) ? [wallet(STRANGER), ...places(found)] : usable(found);
  const input = {
    relayAuthority: someRelay(config(ledger), draw),
    executionId: fromHex(record.executionId),
    caller: draw.maybe(4) ? STRANGER : key(record.caller),
    listing,
    payout: key(payouts.length > 0 ? draw.of(payouts) : found.payout),
    rentSponsor: draw.maybe(4) ? STRANGER : key(record.rentSponsor),
    resultHash,
    signature: signatureOf(proof),
    executionTimeMs: draw.of([1_250, 0, 0xffff_ffff]),
    gasLamports: someGas(draw, record),
  };
  return plan('ExecutionSettled', program.settleExecution, input, rules.settleExecution, proof);
};

export const refundExecution: Planner = (scene, draw) => {
  const { ledger } = scene;
  const open = ({ status, caller }: rules.ExecutionRecord) =>
    status === 'open' && receivesFor(ledger, wallet(key(caller)), caller);
  const record = someRecord(ledger, draw, open);
  if (!record) return openExecution(scene, draw);
  const caller = key(record.caller);
  const anyone = ledger.now >= record.refundAt || draw.maybe(8);
  const relay = key(draw.of(relaysNow(config(ledger))));
  const authority = anyone ? draw.of([STRANGER, caller, relay]) : relay;
  const own = authority.equals(caller) ? [wallet(caller), spareAccount(caller)] : [wallet(caller)];
  const destination = key(draw.maybe(5) ? draw.of([spareAccount(caller), wallet(STRANGER)]) : draw.of(own));
  const input = {
    ...{ authority, executionId: fromHex(record.executionId), caller, destination },
    listing: mostly(ledger, draw, record.listing),
    keyId: draw.maybe(4) ? bytesOf(2, 16) : fromHex(record.keyId),
    rentSponsor: draw.maybe(4) ? STRANGER : key(record.rentSponsor),
    reason: draw.of(program.REFUND_REASONS),
    gasLamports: someGas(draw, record),
  };
  return plan('ExecutionRefunded', program.refundExecution, input, rules.refundExecution);
};

export const moveUnclaimedRefund: Planner = (scene, draw) => {
  const { ledger } = scene;
  const record = someRecord(ledger, draw, ({ status }) => status === 'open');
  if (!record) return openExecution(scene, draw);
  const caller = key(record.caller);
  const account = wallet(caller);
  const isStuck = !receivesFor(ledger, account, record.caller);
  const isOdd = draw.maybe(8);
  const due = rules.movableAt(record);
  if (record.status === 'open' && !(isStuck && ledger.now >= due) && !isOdd) return stick(account, isStuck, due);
  const named = draw.maybe(4) ? draw.of(CALLERS) : caller;
  const input = {
    authority: key(draw.of([text(STRANGER), text(caller), ...relaysOf(config(ledger))])),
    ...{ caller: named, executionId: fromHex(record.executionId), listing: key(record.listing) },
    keyId: draw.maybe(4) ? bytesOf(2, 16) : fromHex(record.keyId),
    rentSponsor: draw.maybe(4) ? STRANGER : key(record.rentSponsor),
    ...{ archiveIndex: 0, tree: TREE, usdcMint: MINT, reason: draw.of(program.REFUND_REASONS) },
    gasLamports: someGas(draw, record),
  };
  return plan('ExecutionRefunded', program.moveUnclaimedRefund, input, rules.moveUnclaimedRefund);
};

/** The account stays frozen until this time. */
export const stick = (account: Address, isStuck: boolean, due: bigint): Happening => ({
  name: 'an account stays frozen',
  happen: (target) => {
    if (!isStuck) target.changeToken(account, { frozen: true });
    if (target.now < due) target.now = due;
  },
});

export const closeExecution: Planner = ({ ledger }, draw) => {
  const due = (record: rules.ExecutionRecord) => {
    const from = rules.closableAt(record);
    return from !== null && ledger.now >= from;
  };
  const record = someRecord(ledger, draw, due);
  if (!record) {
    // Waiting a year for completed records ends everything else, so it is rare.
    const patient = draw.maybe(10);
    const ended = [...ledger.all('ExecutionRecord')].filter(([, { status }]) => patient || status === 'refunded');
    const moments = ended.flatMap(([, candidate]) => rules.closableAt(candidate) ?? []);
    return until(ledger, moments);
  }
  const rentSponsor = draw.maybe(8) ? STRANGER : key(record.rentSponsor);
  const input = { executionId: fromHex(record.executionId), rentSponsor };
  return plan('ExecutionClosed', program.closeExecution, input, rules.closeExecution);
};

/** The smaller of two amounts. Math.min does not accept bigint. */
function smaller(left: bigint, right: bigint): bigint {
  if (left < right) return left;
  return right;
}
