/**
 * The tank of a wallet: lamports at its spender address, from which the service is paid the network fees of all the
 * wallet's keys, and lent rent where nobody else lends it. Anyone fills it; only the wallet takes out.
 */
import type { Connection, PublicKey } from '@solana/web3.js';
import { depositGas, findSpender, withdrawGas } from '../program/program.ts';
import { formatSol } from '../wire/sol.ts';
import type { MarketplaceChain } from './marketplace.ts';
import { Refusal } from './refusal.ts';
import { sendTransaction } from './send.ts';
import type { Signer } from './signer.ts';

type Connected = Pick<MarketplaceChain, 'connection'>;

/** What a wallet's tank holds. */
export async function showGas({ connection }: Connected, wallet: PublicKey) {
  return describe(wallet, await readGas(connection, wallet));
}

/** Adds lamports to the tank of any wallet, by default the signing one's. */
export async function addGas(
  { connection }: Connected,
  { wallet, lamports, of = wallet.publicKey }: { wallet: Signer; lamports: bigint; of?: PublicKey },
) {
  await requireTank(connection, (await readGas(connection, of)) + lamports);
  const instruction = depositGas({ from: wallet.publicKey, wallet: of, lamports });
  const signature = await sendTransaction(connection, [instruction], wallet);
  return { ...describe(of, await readGas(connection, of)), added_sol: formatSol(lamports), signature };
}

/** Takes lamports out of the signing wallet's tank; null takes all. */
export async function takeGas(
  { connection }: Connected,
  { wallet, lamports }: { wallet: Signer; lamports: bigint | null },
) {
  const owner = wallet.publicKey;
  const held = await readGas(connection, owner);
  const amount = lamports ?? held;
  if (amount === 0n) throw new Refusal(`The tank ${findSpender(owner)} of wallet ${owner} is empty.`);
  const rest = held > amount ? held - amount : 0n;
  const signature = await sendTransaction(connection, [withdrawGas({ wallet: owner, lamports: amount })], wallet, {
    InvalidAmount: `The tank holds ${formatSol(held)} SOL.`,
    TankBelowRent: `It would hold ${formatSol(rest)} SOL; take all of it, or leave at least ${await leastOf(connection)} SOL.`,
  });
  return { ...describe(owner, await readGas(connection, owner)), taken_sol: formatSol(amount), signature };
}

/** Lamports in a wallet's tank. */
export async function readGas(connection: Connection, wallet: PublicKey): Promise<bigint> {
  return BigInt(await connection.getBalance(findSpender(wallet)));
}

/** Throws Refusal where a tank with this much could not exist: the chain keeps no account below its rent. */
export async function requireTank(connection: Connection, lamports: bigint): Promise<void> {
  const least = BigInt(await connection.getMinimumBalanceForRentExemption(0));
  if (lamports >= least) return;
  throw new Refusal(`A tank must hold at least ${formatSol(least)} SOL; it would hold ${formatSol(lamports)}.`);
}

async function leastOf(connection: Connection): Promise<string> {
  return formatSol(BigInt(await connection.getMinimumBalanceForRentExemption(0)));
}

function describe(wallet: PublicKey, lamports: bigint) {
  const tank = findSpender(wallet).toBase58();
  return { wallet: wallet.toBase58(), tank, gas_lamports: lamports.toString(), gas_sol: formatSol(lamports) };
}
