/**
 * What each instruction of the program costs on both VMs: compute units, transaction bytes, signatures, lamports of
 * network fee, bytes and rent of the accounts it makes. Part of `npm run bench`; alone: `npx tsx bench/program.ts`.
 */
import { pathToFileURL } from 'node:url';
import { Ed25519Program, type Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import * as program from '../app/sdk/program.ts';
import type { VmKind } from '../tests/harness/vm.ts';
import { emptyWorld, type World } from '../tests/harness/world.ts';

export interface InstructionCost {
  name: string;
  /** Units of the whole transaction. */
  units: Record<VmKind, number>;
  /** Bytes of the signed transaction. */
  bytes: number;
  /** Signatures that are paid for: the transaction's, and one for each Ed25519 check. */
  signatures: number;
  /** Network fee at the base price, as the VM took it. */
  fee_lamports: number;
  /** Bytes of data of the accounts that it made, minus of those that it closed. */
  account_bytes: number;
  /** Rent that it locked, or with a minus gave back. */
  rent_lamports: number;
}

export interface ProgramBench {
  instructions: InstructionCost[];
  /** One paid call: open by grant, then settle. */
  execution: InstructionCost;
  /** The same as text. */
  table: string;
}

const OPEN = 'open_execution_with_grant';
const SETTLE = 'settle_execution + Ed25519';

interface Step {
  name: string;
  instructions: TransactionInstruction[];
  signers: Keypair[];
}

/** Every instruction once, in an order in which all succeed. One party signs and pays for each, as relay and wallets do. */
async function* steps(w: World): AsyncGenerator<Step> {
  const { admin, relay, creator, caller } = w;
  const initialize = program.initializeConfig(w.configInput({ payer: w.vm.upgradeAuthority.publicKey }));
  yield { name: 'initialize_config', instructions: [initialize], signers: [w.vm.upgradeAuthority] };
  const verified = { admin: admin.publicKey, payer: admin.publicKey, creator: creator.publicKey, verified: true };
  const badge = program.setCreatorVerified(verified);
  yield { name: 'set_creator_verified', instructions: [badge], signers: [admin] };
  yield { name: 'list_agent + Ed25519', instructions: w.listInstructions(), signers: [creator] };
  const listing = { creator: creator.publicKey, listing: w.listing };
  const terms = { ...w.listInput().terms, tagMask: 0b11 };
  const update = program.updateListing({ ...listing, payout: w.payout, terms });
  yield { name: 'update_listing', instructions: [update], signers: [creator] };
  for (const status of ['paused', 'active'] as const) {
    const change = program.setListingStatus({ ...listing, status });
    yield { name: `set_listing_status (${status})`, instructions: [change], signers: [creator] };
  }
  const grant = [program.createGrant(w.grantInput()), w.approveInstruction()];
  yield { name: 'create_grant + approve', instructions: grant, signers: [caller] };

  const nonce = (fill: number) => ({ nonce: new Uint8Array(16).fill(fill), listingVersion: 2 });
  const own = w.openInput(nonce(1));
  yield { name: 'open_execution', instructions: [program.openExecution(own)], signers: [caller] };
  const ownExecution = w.execution(own.nonce, own.caller, new Uint8Array(16), own.payer);
  const refundOwn = w.refundInstruction(ownExecution);
  yield { name: 'refund_execution (wallet)', instructions: [refundOwn], signers: [relay] };

  const first = w.openGrantInput(nonce(2));
  const second = w.openGrantInput(nonce(3));
  yield { name: OPEN, instructions: [program.openExecutionWithGrant(first)], signers: [relay] };
  const settle = w.settleInstructions(w.execution(first.nonce, first.wallet, first.keyId, first.payer));
  yield { name: SETTLE, instructions: settle, signers: [relay] };
  yield { name: `${OPEN} (next)`, instructions: [program.openExecutionWithGrant(second)], signers: [relay] };
  const refund = w.refundInstruction(w.execution(second.nonce, second.wallet, second.keyId, second.payer));
  yield { name: 'refund_execution (grant)', instructions: [refund], signers: [relay] };
  const revoke = program.revokeGrant({ authority: caller.publicKey, wallet: caller.publicKey, keyId: w.keyId });
  yield { name: 'revoke_grant', instructions: [revoke], signers: [caller] };
}

type Measured = Omit<InstructionCost, 'units'> & { units: number };

/** Measure on one VM. The first signer pays the fee, so that no signature is there for the measurement alone. */
async function measure(kind: VmKind): Promise<Measured[]> {
  const w = await emptyWorld(kind);
  await w.vm.airdrop(w.vm.upgradeAuthority.publicKey, 1_000_000_000n);
  const costs: Measured[] = [];
  for await (const { name, instructions, signers } of steps(w)) {
    const payer = signers[0]!;
    const named = [payer.publicKey, ...instructions.flatMap(({ keys }) => keys.map((key) => key.pubkey))];
    const accounts = new Map(named.map((address) => [address.toBase58(), address]));
    const before = await holdings(w, [...accounts.values()], signers);
    const outcome = await w.vm.send(instructions, signers, { payer });
    if (!outcome.ok) throw new Error(`${name} failed with ${outcome.error?.name}\n${outcome.logs.join('\n')}`);
    const after = await holdings(w, [...accounts.values()], signers);
    const proofs = instructions.filter(({ programId }) => programId.equals(Ed25519Program.programId)).length;
    costs.push({
      name,
      units: outcome.computeUnits,
      bytes: outcome.bytes,
      signatures: signers.length + proofs,
      fee_lamports: Number(before.total - after.total),
      account_bytes: after.bytes - before.bytes,
      rent_lamports: Number(after.rent - before.rent),
    });
  }
  return costs;
}

/** Lamports of all accounts, and bytes and lamports of those that are not a signer's wallet. */
async function holdings(w: World, accounts: PublicKey[], signers: Keypair[]) {
  let [bytes, rent, total] = [0, 0n, 0n];
  for (const address of accounts) {
    const account = await w.vm.getAccount(address);
    if (!account) continue;
    total += account.lamports;
    if (signers.some((signer) => signer.publicKey.equals(address))) continue;
    bytes += account.data.length;
    rent += account.lamports;
  }
  return { bytes, rent, total };
}

/** The cost of every instruction, in the order in which a marketplace meets them. `report` hears the progress. */
export async function benchProgram(report: (line: string) => void = () => {}): Promise<ProgramBench> {
  report('program on LiteSVM and bankrun ...');
  const [litesvm, bankrun] = [await measure('litesvm'), await measure('bankrun')];
  const instructions = litesvm.map((cost, index) => ({
    ...cost,
    units: { litesvm: cost.units, bankrun: bankrun[index]!.units },
  }));
  const execution = sum(
    'one execution: open + settle',
    instructions.filter(({ name }) => name === OPEN || name === SETTLE),
  );
  return { instructions, execution, table: toTable([...instructions, execution]) };
}

function sum(name: string, costs: InstructionCost[]): InstructionCost {
  const total = (pick: (cost: InstructionCost) => number) => costs.reduce((all, cost) => all + pick(cost), 0);
  return {
    name,
    units: { litesvm: total((cost) => cost.units.litesvm), bankrun: total((cost) => cost.units.bankrun) },
    bytes: total((cost) => cost.bytes),
    signatures: total((cost) => cost.signatures),
    fee_lamports: total((cost) => cost.fee_lamports),
    account_bytes: total((cost) => cost.account_bytes),
    rent_lamports: total((cost) => cost.rent_lamports),
  };
}

function toTable(costs: InstructionCost[]): string {
  const heads = ['instruction', 'CU litesvm', 'CU bankrun', 'tx bytes', 'signatures', 'fee', 'account bytes', 'rent'];
  const rows = costs.map((cost) => [
    cost.name,
    ...[cost.units.litesvm, cost.units.bankrun, cost.bytes, cost.signatures, cost.fee_lamports].map(String),
    ...[cost.account_bytes, cost.rent_lamports].map(String),
  ]);
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(heads), rule, ...rows.map(line)].join('\n');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log((await benchProgram()).table);
}
