/**
 * Returns expired deposits whose rows are lost, for example with a disk. Their payers have no SOL and no tools. The
 * engine cannot interfere: it opens and returns only deposits with a row. A deposit that nobody paid is only closed.
 */
import { Keypair, PublicKey } from '@solana/web3.js';
import { decodeOwn, findTokenAccount, refundDeposit } from '../../sdk/program/program.ts';
import { readMany } from '../chain/readMany.ts';
import { readToken } from '../chain/tokenAccounts.ts';
import { type Candidate, lostDeposits } from './candidates.ts';
import { type Closing, closeTogether } from './closing.ts';
import { inBatches, type SweepDeps } from './sweeping.ts';

/** Each names deposit, vault, the payer's account and a sponsor, which take 150 of a transaction's 1,232 bytes. */
const AT_ONCE = 5;

/** Returns all of them at once. Money does not wait for others to share a transaction. */
export function returnLost(deps: SweepDeps, now: bigint): Promise<void> {
  return inBatches({ ...deps, waitSeconds: 0 }, now, lostDeposits, AT_ONCE, async (batch) => {
    await returnBatch(deps, batch);
    return true;
  });
}

async function returnBatch(deps: SweepDeps, batch: Candidate[]): Promise<void> {
  const { chain, usdcMint, resting, log } = deps;
  const addresses = batch.map(({ address }) => new PublicKey(address));
  const vaults = addresses.map((address) => findTokenAccount(address, usdcMint));
  const { accounts, now } = await readMany(chain, [...addresses, ...vaults]);
  // The program keeps the service fee of a paid deposit if a relay authority returns it. Now any other key may do so.
  const asker = Keypair.generate();
  const closings = addresses.flatMap((address, at): Closing[] => {
    const [account, vault] = [accounts[at], accounts[addresses.length + at]];
    const deposit = decodeOwn('Deposit', account);
    if (!account || !deposit) {
      // It is gone. The index does not know it yet.
      resting.rest(address.toBase58());
      return [];
    }
    // Our clock was ahead of the chain's, or the deposit was prepared again.
    if (now < deposit.expiresAt) return [];
    const { caller, rentSponsor, price, serviceFee } = deposit;
    const held = readToken(vault)?.amount ?? 0n;
    const authority = held >= price + serviceFee ? asker.publicKey : chain.authority;
    const destination = findTokenAccount(caller, usdcMint);
    const instruction = refundDeposit({ authority, deposit: address, destination, rentSponsor, usdcMint });
    return [{ address, lamports: account.lamports + (vault?.lamports ?? 0), instruction }];
  });
  if (closings.length === 0) return;
  log.warn({ accounts: closings.length }, 'found expired deposits without a row; they are sent back to their payers');
  await closeTogether(deps, closings, asker);
}
