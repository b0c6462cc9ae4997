/** What one transaction costs: units, bytes, signatures, network fee, and the accounts that it makes or closes. */
import { Ed25519Program, type Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { Vm } from '../../tests/harness/vm/vm.ts';

export interface Step {
  name: string;
  instructions: TransactionInstruction[];
  /** The first pays the network fee, so that no signature is there for the measurement alone. */
  signers: Keypair[];
}

export interface Cost {
  name: string;
  /** Compute units of the whole transaction. */
  units: number;
  /** Bytes of the signed transaction. */
  bytes: number;
  /** Signatures that are paid for: the transaction's, and one for each Ed25519 check. */
  signatures: number;
  /** Network fee at the base price, as the VM took it. */
  fee_lamports: number;
  /** Bytes of data of the accounts that it made, minus of those that it closed. */
  account_bytes: number;
  /** Lamports that it locked in accounts with data (rent, and a dispute's bond), or with a minus gave back. */
  rent_lamports: number;
}

/** Send what must succeed, and say what it cost. */
export async function measure(vm: Vm, { name, instructions, signers }: Step): Promise<Cost> {
  const payer = signers[0]!;
  const named = [payer.publicKey, ...instructions.flatMap(({ keys }) => keys.map((key) => key.pubkey))];
  const accounts = [...new Map(named.map((address) => [address.toBase58(), address])).values()];
  const before = await holdings(vm, accounts);
  const outcome = await vm.send(instructions, signers, { payer });
  if (!outcome.ok) throw new Error(`${name} failed with ${outcome.error?.name}\n${outcome.logs.join('\n')}`);
  const after = await holdings(vm, accounts);
  const proofs = instructions.filter(({ programId }) => programId.equals(Ed25519Program.programId)).length;
  return {
    name,
    units: outcome.computeUnits,
    bytes: outcome.bytes,
    signatures: signers.length + proofs,
    fee_lamports: Number(before.total - after.total),
    account_bytes: after.bytes - before.bytes,
    rent_lamports: Number(after.rent - before.rent),
  };
}

/** Lamports of all accounts, and bytes and lamports of those with data, which wallets do not have. */
async function holdings(vm: Vm, accounts: PublicKey[]) {
  let [bytes, rent, total] = [0, 0n, 0n];
  for (const address of accounts) {
    const account = await vm.getAccount(address);
    if (!account) continue;
    total += account.lamports;
    if (account.data.length === 0) continue;
    bytes += account.data.length;
    rent += account.lamports;
  }
  return { bytes, rent, total };
}
