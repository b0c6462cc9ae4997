/**
 * The gas balance of a wallet: lamports at its spender address. It pays the network fees of all the wallet's keys, lends
 * each call the deposit of its escrow, and that of its record if the operator does not. Anyone can add to it; only the wallet can withdraw.
 */
import type { Connection, PublicKey } from '@solana/web3.js';
import { ALL_GAS, depositGas, findSpender, withdrawGas } from '../program/program.ts';
import { formatSol } from '../wire/sol.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';
import { FIRST_GAS } from './usualAmounts.ts';

type Connected = Pick<MarketplaceChain, 'connection'>;

/** A wallet's gas balance. */
export async function showGas({ connection }: Connected, wallet: PublicKey) {
  return describe(wallet, await readGas(connection, wallet));
}

/** Adds lamports to the gas balance of any wallet, by default the signing one's. */
export async function addGas(
  { connection }: Connected,
  { wallet, lamports, of = wallet.publicKey }: { wallet: Signer; lamports: bigint; of?: PublicKey },
) {
  await requireGasBalance(connection, (await readGas(connection, of)) + lamports);
  const instruction = depositGas({ from: wallet.publicKey, wallet: of, lamports });
  const signature = await sendTransaction(connection, [instruction], wallet);
  return { ...describe(of, await readGas(connection, of)), added_sol: formatSol(lamports), signature };
}

/** Withdraws lamports from the signing wallet's gas balance; null withdraws all. */
export async function takeGas(
  { connection }: Connected,
  { wallet, lamports }: { wallet: Signer; lamports: bigint | null },
) {
  const owner = wallet.publicKey;
  const held = await readGas(connection, owner);
  const amount = lamports ?? held;
  if (amount === 0n) throw new Refusal(`The gas balance of wallet ${owner} (${findSpender(owner)}) is empty.`);
  const rest = held > amount ? held - amount : 0n;
  const instruction = withdrawGas({ wallet: owner, lamports: lamports ?? ALL_GAS });
  const signature = await sendTransaction(connection, [instruction], wallet, {
    InvalidAmount: `The gas balance is ${formatSol(held)} SOL.`,
    GasBalanceBelowRent: `${formatSol(rest)} SOL would be left. Withdraw all of it, or leave at least ${await leastOf(connection)} SOL.`,
  });
  return { ...describe(owner, await readGas(connection, owner)), taken_sol: formatSol(amount), signature };
}

/** Lamports in a wallet's gas balance. */
export async function readGas(connection: Connection, wallet: PublicKey): Promise<bigint> {
  return BigInt(await connection.getBalance(findSpender(wallet)));
}

/** The gas to add with a wallet's key unless its owner says otherwise, lamports: nothing if it has some. */
export async function firstGas(connection: Connection, wallet: PublicKey): Promise<bigint> {
  return (await readGas(connection, wallet)) > 0n ? 0n : FIRST_GAS;
}

/** Throws Refusal if a gas balance of this amount cannot exist: the chain keeps no account below its rent. */
export async function requireGasBalance(connection: Connection, lamports: bigint): Promise<void> {
  const least = BigInt(await connection.getMinimumBalanceForRentExemption(0));
  if (lamports >= least) return;
  throw new Refusal(`A gas balance must be at least ${formatSol(least)} SOL; it would be ${formatSol(lamports)}.`);
}

async function leastOf(connection: Connection): Promise<string> {
  return formatSol(BigInt(await connection.getMinimumBalanceForRentExemption(0)));
}

function describe(wallet: PublicKey, lamports: bigint) {
  const gasBalance = findSpender(wallet).toBase58();
  return {
    wallet: wallet.toBase58(),
    gas_balance_address: gasBalance,
    gas_lamports: lamports.toString(),
    gas_sol: formatSol(lamports),
  };
}
