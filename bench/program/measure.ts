/** Measures one transaction: units, bytes, signatures, network fee, and the accounts it creates or closes. */
import { Ed25519Program, type Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { Vm } from '../../tests/harness/vm/vm.ts';

export interface Step {
  name: string;
  instructions: TransactionInstruction[];
  /** The first pays the network fee, so the measurement adds no signature. */
  signers: Keypair[];
}

export interface Cost {
  name: string;
  /** Compute units of the whole transaction. */
  units: number;
  /** Bytes of the signed transaction. */
  bytes: number;
  /** Signatures that cost a fee: the transaction's, and one per Ed25519 check. */
  signatures: number;
  /** Network fee at the base price, as the VM charged it. */
  fee_lamports: number;
  /** Bytes of data in created accounts, minus those in closed accounts. */
  account_bytes: number;
  /** Lamports locked in accounts with data (rent, and a dispute's bond); negative if released. */
  rent_lamports: number;
}

/** Sends a transaction and returns its cost. Throws if it fails. */
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

/** Lamports of all accounts, and bytes and lamports of accounts with data, which excludes wallets. */
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
