/**
 * The same paid calls by our program and by the naive one, in turns on one VM: same caller, price, execution id and
 * signature. Each call has parties and an id of its own, because a program address that is searched for costs 1,500 units
 * for every bump that misses: single figures would be a lottery.
 */
import { type Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../app/sdk/program/accounts.ts';
import * as program from '../../app/sdk/program/program.ts';
import { createNonce } from '../../app/sdk/receipt/receipt.ts';
import { readProgram } from '../../tests/harness/vm/deployment.ts';
import { namedKeypair } from '../../tests/harness/vm/keys.ts';
import type { VmKind } from '../../tests/harness/vm/vm.ts';
import { FEE, PRICE, USDC, type World, world } from '../../tests/harness/vm/world.ts';
import { type Cost, measure } from './measure.ts';
import {
  NAIVE_SO,
  type NaiveCall,
  naiveApprove,
  naiveOpen,
  naiveRefund,
  naiveSettle,
  writeNaiveCall,
  writeNaiveMarket,
} from './naive.ts';
import { median, quantile } from './table.ts';

/** What a tank begins with. */
const DEPOSIT = 10_000_000n;
/** Units that the runtime takes for each try of a bump. */
const UNITS_PER_MISS = 1_500;

export type Stage = 'open' | 'settle' | 'refund';
type Costs = Record<Stage, Cost[]>;

/** What one program takes for a stage: medians. */
export interface StageCost {
  units: Record<VmKind, number>;
  bytes: number;
  account_bytes: number;
  rent_lamports: number;
}

/** The spread of opens, compute units. */
export interface OpenSpread {
  /** Where no bump misses. */
  base: number;
  min: number;
  p50: number;
  p90: number;
  max: number;
}

export interface Versus {
  /** How many opens each figure is of; half as many settles and refunds. */
  calls: number;
  ours: Record<Stage, StageCost>;
  naive: Record<Stage, StageCost>;
  /** Of our open, on both VMs. */
  opens: Record<VmKind, OpenSpread>;
  /** Of the naive one. */
  naive_opens: Record<VmKind, Omit<OpenSpread, 'base'>>;
  /** Bytes of the naive program, which has these three instructions only. */
  naive_so_bytes: number;
}

interface Sample {
  ours: Costs;
  naive: Costs;
  /** Bumps that our open tried in vain, call by call. */
  misses: number[];
}

/**
 * Run so many calls of each program on both VMs: every second one settles, the others are refunded. `deployNaive` has to
 * come before the first VM.
 */
export async function compare(calls: number): Promise<Versus> {
  const [litesvm, bankrun] = [await sample('litesvm', calls), await sample('bankrun', calls)];
  const opens = ({ ours, misses }: Sample): OpenSpread => {
    const bases = ours.open.map(({ units }, call) => units - misses[call]! * UNITS_PER_MISS);
    return { base: median(bases), ...spread(ours.open) };
  };
  return {
    calls,
    ours: stages(litesvm.ours, bankrun.ours),
    naive: stages(litesvm.naive, bankrun.naive),
    opens: { litesvm: opens(litesvm), bankrun: opens(bankrun) },
    naive_opens: { litesvm: spread(litesvm.naive.open), bankrun: spread(bankrun.naive.open) },
    naive_so_bytes: readProgram(NAIVE_SO).length,
  };
}

async function sample(kind: VmKind, calls: number): Promise<Sample> {
  const w = await world({ kind });
  writeNaiveMarket(w);
  const none = (): Costs => ({ open: [], settle: [], refund: [] });
  const [ours, naive, misses]: [Costs, Costs, number[]] = [none(), none(), []];
  for (let call = 0; call < calls; call += 1) {
    const end = call % 2 === 0 ? 'settle' : 'refund';
    const caller = namedKeypair(`bench caller ${call}`);
    const nonce = createNonce(w.day(), caller.publicKey.toBytes().slice(0, 12));
    const terms = w.openTerms(caller.publicKey, { nonce });
    misses.push(missesOf(terms.executionId));
    await runOurs(w, caller, terms, end, ours);
    const theirs = writeNaiveCall(w, caller, namedKeypair(`bench creator ${call}`), terms);
    await runNaive(w, theirs, end, naive);
  }
  return { ours, naive, misses };
}

async function runOurs(w: World, caller: Keypair, terms: program.OpenTerms, end: 'settle' | 'refund', costs: Costs) {
  const wallet = caller.publicKey;
  await w.vm.airdrop(wallet, 1_000_000_000n);
  w.vm.setWallet(wallet, w.usdcMint, 10n * USDC);
  const grant = program.createGrant({ ...w.grantInput(), wallet, payer: wallet });
  const approve = program.approveSpender({ wallet, usdcMint: w.usdcMint, amount: PRICE });
  const deposit = program.depositGas({ from: wallet, wallet, lamports: DEPOSIT });
  await w.must([grant, approve, deposit], [caller]);
  const input = w.openGrantInput({ wallet, ...terms });
  const execution = w.execution(terms.nonce, wallet, w.keyId, input.payer);
  const instructions = {
    open: [program.openExecutionWithGrant(input)],
    settle: [w.settleInstruction(execution)],
    refund: [w.refundInstruction(execution)],
  };
  for (const stage of ['open', end] as const) {
    costs[stage].push(await measure(w.vm, { name: stage, instructions: instructions[stage], signers: [w.relay] }));
  }
}

async function runNaive(w: World, call: NaiveCall, end: 'settle' | 'refund', costs: Costs): Promise<void> {
  await w.must([naiveApprove(w, call)], [call.caller]);
  const instructions = { open: [naiveOpen(w, call)], settle: naiveSettle(w, call), refund: [naiveRefund(w, call)] };
  for (const stage of ['open', end] as const) {
    const step = { name: `naive ${stage}`, instructions: instructions[stage], signers: [w.relay] };
    costs[stage].push(await measure(w.vm, step));
  }
  const paid = await w.vm.tokens(w.wallet(call.creator));
  if (paid !== (end === 'settle' ? PRICE - FEE : 0n)) throw new Error(`the naive ${end} paid the creator ${paid}`);
}

/** An open looks for record and escrow; every other address is stored. */
function missesOf(executionId: Uint8Array): number {
  const record = program.findExecution(executionId);
  const escrow = program.findEscrow(record);
  const constants = [
    [Buffer.from('execution'), executionId],
    [Buffer.from('escrow'), record.toBytes()],
  ];
  const found = constants.map((seeds) => PublicKey.findProgramAddressSync(seeds, PROGRAM_ID));
  if (!found[0]?.[0].equals(record) || !found[1]?.[0].equals(escrow)) throw new Error('the seeds have changed');
  return found.reduce((all, [, bump]) => all + (255 - bump), 0);
}

function stages(litesvm: Costs, bankrun: Costs): Record<Stage, StageCost> {
  const of = (stage: Stage): StageCost => {
    const middle = (costs: Costs, pick: (cost: Cost) => number) => median(costs[stage].map(pick));
    return {
      units: { litesvm: middle(litesvm, (cost) => cost.units), bankrun: middle(bankrun, (cost) => cost.units) },
      bytes: middle(litesvm, (cost) => cost.bytes),
      account_bytes: middle(litesvm, (cost) => cost.account_bytes),
      rent_lamports: middle(litesvm, (cost) => cost.rent_lamports),
    };
  };
  return { open: of('open'), settle: of('settle'), refund: of('refund') };
}

function spread(costs: Cost[]): Omit<OpenSpread, 'base'> {
  const units = costs.map((cost) => cost.units);
  const [min, p50, p90, max] = [0, 0.5, 0.9, 1].map((share) => quantile(units, share));
  return { min: min!, p50: p50!, p90: p90!, max: max! };
}
