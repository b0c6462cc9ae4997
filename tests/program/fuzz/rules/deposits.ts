/** The program's rules for deposits: prepared, then opened as an execution or refunded. */
import * as program from '../../../../app/sdk/program/program.ts';
import { MINT } from '../cast.ts';
import { type Address, demand, key, type Ledger, type StateOf, text } from '../ledger.ts';
import { ARCHIVE, addLeaves } from './archive.ts';
import { config, relaysOf, TREASURY, UNCLAIMED } from './config.ts';
import { openFunded } from './executions.ts';
import { frozenOrGone, receivesFor } from './token.ts';
import { demandUndeliverable } from './unclaimed.ts';

export type Deposit = StateOf<'Deposit'>;

const MAX_SERVICE_FEE = 50_000n;
const LIFE = 600n;
const DAY = 86_400n;

export const vaultOf = (deposit: Address): Address => text(program.findTokenAccount(key(deposit), MINT));

/** The amount to pay: price plus service fee. */
export const askedOf = ({ price, serviceFee }: Pick<Deposit, 'price' | 'serviceFee'>): bigint => price + serviceFee;

/** Base units in the deposit's vault. */
export function heldBy(ledger: Ledger, deposit: Address): bigint {
  const { token } = ledger.get(vaultOf(deposit));
  return token?.owner === deposit ? token.amount : 0n;
}

/** The time from which anyone can refund the deposit: its expiry if paid, a day after its preparation if not. */
export function refundableFrom(ledger: Ledger, address: Address, deposit: Deposit): bigint {
  const isPaid = heldBy(ledger, address) >= askedOf(deposit);
  return isPaid ? deposit.expiresAt : deposit.preparedAt + DAY;
}

export function prepareDeposit(ledger: Ledger, input: program.PrepareDepositInput): void {
  const { payer, price, serviceFee } = input;
  const byRelay = relaysOf(config(ledger)).includes(text(input.authority));
  const place = program.depositAddress(input);
  const [address, caller, rentSponsor] = [text(place.address), text(input.caller), text(input.rentSponsor)];
  const vault = text(place.vault);
  const isPaid = heldBy(ledger, address) >= askedOf(input);
  ledger.demandNew(address);
  demand(byRelay || (payer !== null && isPaid), 'NotRelayAuthority');
  demand(serviceFee <= MAX_SERVICE_FEE, 'ServiceFeeOutOfBounds');
  demand(payer === null || text(payer) === caller, 'DepositCallerMismatch');
  demand(rentSponsor !== address && rentSponsor !== vault, 'InvalidRentSponsor');
  const isMade = ledger.get(vault).token !== undefined;
  demand(!isMade || receivesFor(ledger, vault, address), 'DepositVaultUnsound');
  const { now } = ledger;
  ledger.create('Deposit', address, text(input.rentPayer), {
    ...{ version: 1, bump: 0, vaultBump: 0, hash: Buffer.from(place.hash).toString('hex'), caller, rentSponsor },
    ...{ price, serviceFee, preparedAt: now, expiresAt: now + LIFE },
  });
  if (!isMade) ledger.createToken(vault, text(input.rentPayer), address);
}

export function openExecutionFromDeposit(ledger: Ledger, input: program.OpenExecutionFromDepositInput): void {
  const settings = config(ledger);
  const address = text(input.deposit);
  ledger.state('AgentListing', text(input.listing));
  const deposit = ledger.state('Deposit', address);
  demand(deposit.rentSponsor === text(input.depositRentSponsor), 'WrongRentSponsor');
  demand(relaysOf(settings).includes(text(input.relayAuthority)), 'NotRelayAuthority');
  const { price, serviceFee } = deposit;
  const quote = { terms: input, payer: input.quotedPayer, price, serviceFee, usdcMint: input.usdcMint };
  demand(text(program.depositAddress(quote).address) === address, 'DepositTermsMismatch');
  demand(ledger.now < deposit.expiresAt, 'DepositExpired');
  const held = heldBy(ledger, address);
  demand(held >= askedOf(deposit), 'DepositUnfunded');
  const vault = vaultOf(address);
  openFunded(ledger, input, { caller: deposit.caller, mover: address, source: vault, price }, () => {
    const fee = frozenOrGone(ledger, TREASURY) ? 0n : serviceFee;
    if (fee > 0n) ledger.transfer(vault, TREASURY, fee, address);
    ledger.tell({ serviceFee: fee, deposit: address });
    return held - fee;
  });
  demand(closeDeposit(ledger, address, deposit), 'InvalidRentSponsor');
}

export function refundDeposit(ledger: Ledger, input: program.RefundDepositInput): void {
  const settings = config(ledger);
  const [address, authority, destination] = [text(input.deposit), text(input.authority), text(input.destination)];
  const deposit = ledger.state('Deposit', address);
  demand(deposit.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  const byRelay = relaysOf(settings).includes(authority);
  const due = ledger.now >= refundableFrom(ledger, address, deposit);
  demand(byRelay || due, 'DepositNotExpired');
  const { caller } = deposit;
  const associated = text(program.findTokenAccount(key(caller), MINT));
  demand(authority === caller || destination === associated, 'WrongRefundDestination');
  const held = heldBy(ledger, address);
  const isUsable = receivesFor(ledger, destination, caller);
  let fee = 0n;
  if (byRelay && !frozenOrGone(ledger, TREASURY)) {
    if (held >= askedOf(deposit)) fee = deposit.serviceFee;
    else if (!isUsable) fee = held;
  }
  demand(held === fee || isUsable, 'RefundDestinationUnusable');
  const vault = vaultOf(address);
  if (fee > 0n) ledger.transfer(vault, TREASURY, fee, address);
  if (held > fee) ledger.transfer(vault, destination, held - fee, address);
  const closed = closeDeposit(ledger, address, deposit);
  demand(closed || held > 0n, 'InvalidRentSponsor');
  ledger.tell({ amount: held - fee, serviceFee: fee, closed, caller, destination });
}

/** The time from which its refund can be moved: an hour after anyone can make it. */
export const movableAt = (ledger: Ledger, address: Address, deposit: Deposit): bigint =>
  refundableFrom(ledger, address, deposit) + 3_600n;

export function moveUnclaimedDeposit(ledger: Ledger, input: program.MoveUnclaimedDepositInput): void {
  const settings = config(ledger);
  const [address, authority] = [text(input.deposit), text(input.authority)];
  const deposit = ledger.state('Deposit', address);
  ledger.state('Archive', ARCHIVE);
  demand(deposit.rentSponsor === text(input.rentSponsor), 'WrongRentSponsor');
  demand(ledger.now >= movableAt(ledger, address, deposit), 'MoveTooEarly');
  demandUndeliverable(ledger, deposit.caller, text(input.caller));
  const held = heldBy(ledger, address);
  const byRelay = relaysOf(settings).includes(authority) && !frozenOrGone(ledger, TREASURY);
  const fee = byRelay ? (held >= askedOf(deposit) ? deposit.serviceFee : held) : 0n;
  const vault = vaultOf(address);
  if (fee > 0n) ledger.transfer(vault, TREASURY, fee, address);
  if (held > fee) ledger.transfer(vault, UNCLAIMED, held - fee, address);
  demand(held > fee, 'InvalidAmount');
  addLeaves(ledger, 1);
  const closed = closeDeposit(ledger, address, deposit);
  ledger.tell({ amount: held - fee, serviceFee: fee, closed, destination: UNCLAIMED });
}

/** Closes both accounts, or neither. Returns whether it did. */
function closeDeposit(ledger: Ledger, address: Address, { rentSponsor }: Deposit): boolean {
  const vault = vaultOf(address);
  const lent = ledger.get(address).lamports + ledger.get(vault).lamports;
  if (!ledger.canTake(rentSponsor, lent)) return false;
  ledger.closeToken(vault, rentSponsor);
  ledger.close(address, rentSponsor);
  return true;
}
