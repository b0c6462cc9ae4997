/** Calls that share a transaction, each with an outcome of its own. */
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import type { Budget } from '../../../app/relay/chain/versionOne.ts';
import { createSharing, type Part } from '../../../app/relay/execution/sharing.ts';
import type { Mover } from '../../../app/relay/ledger/moves.ts';
import type { JournalRow } from '../../../app/relay/ledger/tables.ts';
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { SIGNED } from '../../harness/edge/journals.ts';

const instruction = () => new TransactionInstruction({ programId: PROGRAM_ID, keys: [], data: Buffer.alloc(8) });
const PART: Part = { instruction, mostPriority: 0n, state: 'open_signed', changes: {} };

describe('sharing', () => {
  /** How calls with these ids end that are ready together, after a first one that goes alone. */
  async function share(ids: string[], chain: object, intendShared: Mover['intendShared']) {
    const all = {
      authority: PublicKey.default,
      budgetOf: () => ({ units: 1, priority: 0n }),
      signMany: async () => SIGNED,
      simulateNewest: async () => ({ failure: null, units: 1 }),
      ...chain,
    };
    const deps = { chain: all, journal: { intendShared }, hasPaid: async () => true, log: {} };
    const sharing = createSharing(deps as unknown as Parameters<typeof createSharing>[0]);
    const ready = (id: string) =>
      sharing.share(
        'open',
        { execution_id: id, wallet: id, listing: id, transactions: [] } as unknown as JournalRow,
        async () => PART,
      );
    expect(await ready('first')).to.equal(false);
    return Promise.allSettled(ids.map(ready));
  }

  it('refuses an open with 503 if the node returns no blockhash', async () => {
    const signMany = () => Promise.reject(new Error('fetch failed'));
    const ends = await share(['a', 'b'], { signMany }, async () => undefined);
    for (const end of ends) {
      expect(end.status === 'rejected' && end.reason).to.include({ code: 'service_unavailable' });
    }
  });

  it('stores what it signed with the units and the fee of the simulation, not what it has tried', async () => {
    const stored: unknown[] = [];
    const chain = {
      budgetOf: (units: number, count: number) => ({ units: units + count, priority: BigInt(units) }),
      signMany: async (_: unknown, budget: Budget) => ({ ...SIGNED, fee: budget.priority }),
      simulateNewest: async (bytes: Uint8Array) => ({ failure: null, units: bytes.length > 0 ? 1_000 : 0 }),
    };
    await share(['a', 'b'], chain, async (moves, _, signed) => {
      stored.push(
        moves.map(({ fee }) => fee),
        signed.fee,
      );
    });
    expect(stored).to.deep.equal([[3_000n, 3_000n], 1_000n]);
  });

  it('takes out the call whose part would fail, and shares without it', async () => {
    const failures = [{ error: 'GrantRevoked', message: '', instruction: 1, byProgram: true }];
    const stored: string[][] = [];
    const ends = await share(
      ['a', 'b', 'c'],
      { simulateNewest: async () => ({ failure: failures.shift() ?? null, units: 1 }) },
      async (moves) => void stored.push(moves.map(({ row }) => row.execution_id)),
    );
    expect(ends.map((end) => end.status === 'fulfilled' && end.value)).to.deep.equal([true, false, true]);
    expect(stored).to.deep.equal([['a', 'c']]);
  });

  it('stores one half although the other cannot be stored', async () => {
    const tooLarge = { error: null, message: '', instruction: 2, byProgram: false };
    let signedCalls = 0;
    const chain = {
      async signMany(instructions: unknown[]) {
        signedCalls = instructions.length;
        return SIGNED;
      },
      simulateNewest: async () => ({ failure: signedCalls > 2 ? tooLarge : null, units: 1 }),
    };
    const ends = await share(['a', 'b', 'c', 'd'], chain, async (moves) => {
      if (moves.some(({ row }) => row.execution_id === 'a')) throw new Error('the disk is full');
    });
    expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message))).to.deep.equal([
      'the disk is full',
      'the disk is full',
      true,
      true,
    ]);
  });
});
