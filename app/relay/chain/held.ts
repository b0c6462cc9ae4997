/** Adds up what the accounts of the program hold for others, for the admin. */
import type { Connection, PublicKey } from '@solana/web3.js';
import { chunks } from '../../process/chunks.ts';
import {
  findCollateralVault,
  findEscrow,
  findSpender,
  findTokenAccount,
  findUnclaimed,
  parseAddress,
} from '../../sdk/program/program.ts';
import { findAccounts } from '../../sdk/wallet/connection.ts';
import { COMMITMENT } from './reader.ts';
import { readToken } from './tokenAccounts.ts';

/** The maximum of accounts in one request. */
const PAGE = 100;

/** USDC in base units; `rent` and `gas` in lamports. */
export interface ChainHeld {
  escrow: bigint;
  /** All that the collateral vaults hold: collateral, forfeits and awards. */
  collateral: bigint;
  deposits: bigint;
  unclaimed: bigint;
  /** Rent of records and escrows that goes back to a lender. */
  rent: bigint;
  /** Gas balances of the wallets. */
  gas: bigint;
}

/** `lenders`: the relay authorities whose deposits and rent count. `wallets`: those whose gas balances count. */
export async function readChainHeld(
  connection: Connection,
  { lenders, wallets, usdcMint }: { lenders: readonly string[]; wallets: readonly string[]; usdcMint: PublicKey },
): Promise<ChainHeld> {
  const isLent = ({ fields }: { fields: { rentSponsor: PublicKey } }) =>
    lenders.includes(fields.rentSponsor.toBase58());
  const read = (addresses: PublicKey[]) => readMoney(connection, addresses);
  const records = await findAccounts(connection, 'ExecutionRecord');
  const open = records.filter(({ fields }) => fields.status === 'open');
  const escrows = await read(open.map(({ address }) => findEscrow(address)));
  const collaterals = await findAccounts(connection, 'CreatorCollateral');
  const deposits = (await findAccounts(connection, 'Deposit')).filter(isLent);
  // An ended record has no gas any more.
  const rents = records.filter(isLent).map(({ lamports, fields }) => {
    return BigInt(lamports) - (fields.status === 'open' ? BigInt(fields.gasLamports) : 0n);
  });
  const rentsOfEscrows = open.flatMap((one, at) =>
    isLent(one) && one.fields.spenderBump === 0 ? [escrows[at]!.lamports] : [],
  );
  return {
    escrow: sumUsdc(escrows),
    collateral: sumUsdc(await read(collaterals.map(({ fields }) => findCollateralVault(fields.listing)))),
    deposits: sumUsdc(await read(deposits.map(({ address }) => findTokenAccount(address, usdcMint)))),
    unclaimed: sumUsdc(await read([findUnclaimed()])),
    rent: sum([...rents, ...rentsOfEscrows]),
    gas: sum((await read(wallets.map((wallet) => findSpender(parseAddress(wallet))))).map(({ lamports }) => lamports)),
  };
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
const sumUsdc = (found: readonly Money[]): bigint => sum(found.map(({ usdc }) => usdc));

interface Money {
  usdc: bigint;
  lamports: bigint;
}

/** In the order of the addresses. */
async function readMoney(connection: Connection, addresses: PublicKey[]): Promise<Money[]> {
  const found: Money[] = [];
  for (const page of chunks(addresses, PAGE)) {
    const accounts = await connection.getMultipleAccountsInfo(page, COMMITMENT);
    for (const account of accounts)
      found.push({ usdc: readToken(account)?.amount ?? 0n, lamports: BigInt(account?.lamports ?? 0) });
  }
  return found;
}
