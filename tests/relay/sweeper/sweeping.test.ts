/** Batches of the sweeper: several at a time, each candidate once, what ends them, and what one bad account holds up. */
import { Keypair, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { createLog } from '../../../app/relay/log.ts';
import { closeTogether } from '../../../app/relay/sweeper/closing.ts';
import { createResting } from '../../../app/relay/sweeper/resting.ts';
import { inBatches } from '../../../app/relay/sweeper/sweeping.ts';
import { deferred } from '../../harness/edge/until.ts';

const NOW = 1_000n;
const PAGE = 10;
const IN_FLIGHT = 3;

const candidates = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    return { id: `id ${at}`, address: `address ${at}`, ended_at: BigInt(at), ripe_at: BigInt(at) };
  });
type Candidates = ReturnType<typeof candidates>;

describe('the batches of the sweeper', () => {
  const resting = createResting(() => 0);

  function batches(all: Candidates, run: (batch: Candidates) => Promise<boolean>, waitSeconds = 0): Promise<void> {
    const deps = { resting, inFlight: IN_FLIGHT, waitSeconds } as Parameters<typeof inBatches>[0];
    const find: Parameters<typeof inBatches>[2] = async (_views, _now, after) =>
      all.filter(({ ended_at }) => ended_at > (after?.ended_at ?? -1n)).slice(0, PAGE);
    return inBatches(deps, NOW, find, 4, (batch) => run(batch as Candidates));
  }

  it('are as many at a time as allowed, and have each candidate once', async () => {
    let [atOnce, most] = [0, 0];
    const begun: string[] = [];
    const { promise: isFull, resolve: full } = deferred();
    const all = candidates(45);
    resting.rest('address 7');
    await batches(all, async (batch) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      begun.push(...batch.map(({ id }) => id));
      if (atOnce === IN_FLIGHT) full();
      await isFull;
      atOnce -= 1;
      return true;
    });
    expect(most).to.equal(IN_FLIGHT);
    expect(begun).to.have.members(all.map(({ id }) => id).filter((id) => id !== 'id 7'));
  });

  it('wait for others while the last one is not full', async () => {
    const sizes: number[] = [];
    const collect = async (batch: Candidates) => sizes.push(batch.length) > 0;
    const young = candidates(6).map((one) => ({ ...one, ripe_at: NOW - 5n }));
    await batches(young, collect, 10);
    expect(sizes).to.deep.equal([4]);
    await batches(young, collect, 5);
    expect(sizes).to.deep.equal([4, 4, 2]);
  });

  it('end when one asks for it, and when one fails, after all that have begun', async () => {
    for (const fails of [false, true]) {
      const begun: string[] = [];
      let ended = 0;
      const { promise: isEnding, resolve: end } = deferred();
      const outcome = batches(candidates(400), async ([one]) => {
        begun.push(one!.id);
        if (begun.length === IN_FLIGHT) {
          end();
          if (fails) throw new Error('the node is down');
          return false;
        }
        await isEnding;
        ended += 1;
        return true;
      }).then(
        () => null,
        (error: Error) => error.message,
      );
      expect(await outcome).to.equal(fails ? 'the node is down' : null);
      // Batches that others had already asked for still begin.
      expect(begun.length).to.be.at.most(2 * IN_FLIGHT);
      expect(ended).to.equal(begun.length - 1);
    }
  });

  it('close all others if some accounts break a limit of the runtime together, or one cannot be closed', async () => {
    const rests = createResting(() => 0);
    const closed: string[] = [];
    const returned: number[] = [];
    const closings = Array.from({ length: 12 }, () => {
      const address = Keypair.generate().publicKey;
      const instruction = new TransactionInstruction({ programId: address, keys: [] });
      return { address, lamports: 1, instruction };
    });
    const names = closings.map(({ address }) => address.toBase58());
    const large = [1, 2, 7].map((at) => names[at]!);
    const bad = names[9]!;
    const send = async (instructions: TransactionInstruction[]) => {
      const sent = instructions.map(({ programId }) => programId.toBase58());
      const refused = { kind: 'refused', error: null, message: 'refused', byProgram: false } as const;
      if (sent.filter((one) => large.includes(one)).length > 1) return { ...refused, instruction: null };
      if (sent.includes(bad)) return { ...refused, instruction: sent.indexOf(bad) };
      closed.push(...sent);
      return { kind: 'confirmed' };
    };
    const deps = {
      sending: { send },
      resting: rests,
      chain: { read: async (keys: unknown[]) => ({ accounts: keys.map(() => null), now: NOW, slot: 1 }) },
      returned: (lamports: number) => returned.push(lamports),
      log: createLog('silent'),
    } as unknown as Parameters<typeof closeTogether>[0];
    await closeTogether(deps, closings);
    expect(closed).to.have.members(names.filter((name) => name !== bad));
    expect(names.filter((name) => rests.rests(name))).to.deep.equal([bad]);
    expect(returned.reduce((sum, lamports) => sum + lamports, 0)).to.equal(11);
  });
});
