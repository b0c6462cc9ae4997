/**
 * Runs one sequence on a fresh chain and on the model, and compares everything after each step. Throws at the first
 * difference. A campaign runs many sequences, each from its own seed.
 */
import type { PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { unclaimedOf } from '../../../app/sdk/program/archive.ts';
import type { MarketplaceEvent } from '../../../app/sdk/program/eventFields.ts';
import type { SeenEvent } from '../../harness/vm/outcome.ts';
import { plain } from '../../harness/vm/plain.ts';
import { START } from '../../harness/vm/vm.ts';
import { unclaimedHash } from '../archiving.ts';
import { FEE_PAYER, isExternal, startingAccounts, TREE } from './cast.ts';
import { Chain, difference, networkFee } from './chain.ts';
import { Draw } from './draw.ts';
import { type Change, checkChanges, checkInvariants, checkUnclaimed, type Totals } from './invariants.ts';
import { holdsLeaves, type Leaf, leafOf } from './leaves.ts';
import { type Address, type Entry, key, Ledger, RENTS, text } from './ledger.ts';
import { ARCHIVE } from './rules/archive.ts';
import { initializeConfig } from './steps/config.ts';
import { settleExecution } from './steps/executions.ts';
import type { Happening, Plan, Planner, Scene } from './steps/plan.ts';
import { BEGINNING, plannerOf, sequences } from './steps.ts';

class Run implements Scene {
  readonly ledger = new Ledger();
  readonly nonces: Uint8Array[] = [];
  private fees = 0n;
  private readonly totals: Totals = { usdc: 0n, lamports: 0n };
  /** The steps so far, for the message of a failure. */
  private readonly story: string[] = [];

  /** Leaves of closed records, and the expected leaves of the archive's tree in order. */
  private readonly gone = new Map<Address, Leaf>();
  readonly leaves: Leaf[] = [];
  /** The lowest rent per byte so far. */
  private cheapest: bigint;

  private constructor(
    private readonly chain: Chain,
    /** Names of the instructions that have succeeded. */
    private readonly succeeded: Set<string>,
    lamportsPerByte: bigint,
  ) {
    this.cheapest = lamportsPerByte;
    this.ledger.now = START;
    this.ledger.lamportsPerByte = lamportsPerByte;
  }

  static async create(succeeded: Set<string>, lamportsPerByte: bigint): Promise<Run> {
    const run = new Run(await Chain.create(lamportsPerByte), succeeded, lamportsPerByte);
    for (const [address, entry] of startingAccounts(lamportsPerByte)) {
      run.ledger.set(address, entry);
      await run.chain.write(address, entry);
      await run.chain.read(address);
      run.totals.usdc += entry.token?.amount ?? 0n;
      run.totals.lamports += entry.lamports;
    }
    return run;
  }

  async step(planner: Planner, picks: number[]): Promise<void> {
    // If the step has nothing to do, settle an execution instead, so that there may be something next time.
    const todo = planner(this, new Draw(picks)) ?? settleExecution(this, new Draw(picks));
    if (!todo) return;
    try {
      if ('happen' in todo) await this.happen(todo);
      else await this.transact(todo);
      checkInvariants(this.chain, this.ledger.now, this.cheapest, this.totals, this.fees);
      checkUnclaimed(this.chain, this.leaves);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n  steps:\n    ${this.story.join('\n    ')}\n`);
    }
  }

  private async happen({ name, happen }: Happening): Promise<void> {
    const { now, lamportsPerByte } = this.ledger;
    const touched = this.ledger.record(() => happen(this.ledger));
    this.story.push(`${name} ${now === this.ledger.now ? [...touched].join(' ') : `until ${this.ledger.now}`}`);
    if (now !== this.ledger.now) await this.chain.vm.setClock(this.ledger.now);
    if (lamportsPerByte !== this.ledger.lamportsPerByte) {
      this.chain.vm.setRent(this.ledger.lamportsPerByte);
      if (this.ledger.lamportsPerByte < this.cheapest) this.cheapest = this.ledger.lamportsPerByte;
    }
    for (const address of touched) {
      await this.chain.write(address, this.ledger.get(address));
      await this.chain.read(address);
    }
  }

  private async transact(plan: Plan): Promise<void> {
    const { names, instructions } = plan;
    const name = names.join(' and ');
    const keys = instructions.flatMap((instruction) => instruction.keys.map(({ pubkey }) => text(pubkey)));
    const touched = new Set([text(FEE_PAYER.publicKey), ...keys.filter((address) => !isExternal(address))]);
    const outcome = await this.chain.send(instructions);
    if (!outcome) return;
    const refusal = this.ledger.attempt(plan.rule);
    const fee = networkFee(instructions);
    const payer = this.ledger.get(text(FEE_PAYER.publicKey));
    this.ledger.set(text(FEE_PAYER.publicKey), { ...payer, lamports: payer.lamports - fee });
    this.fees += fee;
    if (outcome.ok) for (const instruction of names) this.succeeded.add(instruction);
    const [expected, found] = [refusal ?? 'ok', outcome.error?.name ?? 'ok'];
    this.story.push(`${name} -> ${found}`);
    if (expected !== found) {
      throw new Error(`${name}: the model says ${expected}, the program ${found}\n${outcome.logs.join('\n')}`);
    }
    const events = outcome.ok ? outcome.events.map((event) => event.name) : [];
    const wanted = outcome.ok ? plan.events : [];
    if (`${events.sort()}` !== `${[...wanted].sort()}`) {
      throw new Error(`${name}: expected the events ${wanted}, found ${events}`);
    }
    const isAlone = names.length === 1;
    await this.compare(name, touched, isAlone, outcome.ok && isAlone ? outcome.events[0] : undefined);
    if (!outcome.ok) return;
    for (const event of outcome.events) {
      this.grow(event);
      if (!isAlone) this.chain.sweptBy(event);
    }
  }

  /** Adds the leaves that the event reports, in its order. */
  private grow({ name, data }: SeenEvent): void {
    if (name === 'ExecutionRefunded') this.chain.refunded(text(data.record as PublicKey), data.refundedAt as bigint);
    if (name === 'ExecutionsArchived') {
      for (const { record } of data.executions as { record: PublicKey }[]) {
        this.leaves.push(this.gone.get(text(record))!);
      }
    }
    const moved = unclaimedOf({ name, data } as MarketplaceEvent);
    if (moved) this.leaves.push({ refund: moved.refund, hash: unclaimedHash(moved.refund) });
  }

  private async compare(name: string, touched: Set<Address>, isAlone = true, event?: SeenEvent): Promise<void> {
    const changes: Change[] = [];
    const differences: string[] = [];
    for (const address of touched) {
      const before: Entry = this.chain.last(address);
      const data = this.chain.bytesAt(address);
      const after = await this.chain.read(address);
      if (before !== after) changes.push({ address, before, after });
      if (before.state?.name === 'ExecutionRecord' && !after.state) this.gone.set(address, leafOf(key(address), data));
      if (event) this.chain.compareReported(event, address, data);
      const different = difference(this.ledger, address, after);
      if (different) differences.push(different);
    }
    if (event) compareTold(event, this.ledger.saying);
    if (differences.length > 0) throw new Error(`${name}: chain and model differ\n  ${differences.join('\n  ')}`);
    checkChanges(this.chain, changes, isAlone);
  }

  /** Compares every account ever named once more, and the archive's tree. */
  async compareAll(): Promise<void> {
    await this.compare('at the end', new Set([...this.ledger.entries()].map(([address]) => address)));
    if (!this.ledger.find('Archive', ARCHIVE)) return;
    if (!(await holdsLeaves(this.chain.vm, TREE, this.leaves))) throw new Error('the tree holds other leaves');
  }
}

/** The event has the fields that the model foretold. */
function compareTold({ name, data }: SeenEvent, saying: Readonly<Record<string, unknown>>): void {
  const found = plain(data) as Record<string, unknown>;
  for (const [field, value] of Object.entries(saying)) {
    if (found[field] !== value) throw new Error(`${name}.${field} is ${found[field]}, and the model says ${value}`);
  }
}

/** Time limit for shrinking a failing sequence. */
const SHRINKING_MS = 300_000;

/**
 * Runs one sequence from a seed, in which program and model must agree and every invariant must hold. If it fails,
 * returns the message of the smallest failing sequence found.
 */
export async function trySeed(seed: number, steps: number, succeeded: Set<string>): Promise<string | null> {
  const property = fc.asyncProperty(sequences(steps), async (sequence) => {
    const run = await Run.create(succeeded, RENTS[sequence.rent % RENTS.length]!);
    await run.step(initializeConfig, sequence.settings);
    for (const { kind, picks } of [...BEGINNING, ...sequence.steps]) await run.step(plannerOf(kind), picks);
    await run.compareAll();
  });
  const details = await fc.check(property, { seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: SHRINKING_MS });
  if (!details.failed && details.interrupted) throw new Error(`the sequence of seed ${seed} does not end`);
  if (!details.failed) return null;
  return (details.errorInstance as Error | null)?.message ?? 'it was interrupted';
}
