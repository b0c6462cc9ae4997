/**
 * The cost of the check for another deployment with the same authority, and that nobody can raise it. Its results are
 * tested in sharedAuthority.test.ts.
 */
import { type Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import pino from 'pino';
import { createAuthorityWatch } from '../../../app/relay/execution/recovery/authorityWatch.ts';
import type { ListedSignature } from '../../../app/solana/calls.ts';

const NOW = 1_800_000_000;
const SILENCE = 120;
/** Transactions that one check reads. */
const AT_ONCE = 20;

describe('the check of transactions that the relay authority signs', () => {
  const authority = Keypair.generate().publicKey;
  let listed: ListedSignature[];
  let calls: string[];
  let isNodeThere: boolean;
  const own = new Set<string>();

  beforeEach(() => {
    listed = [];
    calls = [];
    isNodeThere = true;
    own.clear();
  });

  const mention = (signature: string, changes: Partial<ListedSignature> = {}): ListedSignature => ({
    signature,
    err: null,
    blockTime: NOW - 10,
    ...changes,
  });
  /** Transactions of strangers, base64 by signature. */
  const sent = new Map<string, string>();
  /** Signed by a stranger, and only naming the authority. */
  function naming(): string {
    const stranger = Keypair.generate();
    const transaction = new Transaction({
      feePayer: stranger.publicKey,
      blockhash: Keypair.generate().publicKey.toBase58(),
      lastValidBlockHeight: 1,
    });
    const keys = [{ pubkey: authority, isSigner: false, isWritable: false }];
    transaction.add({ programId: SystemProgram.programId, keys, data: Buffer.alloc(0) }).sign(stranger);
    const signature = bs58.encode(transaction.signature!);
    sent.set(signature, transaction.serialize().toString('base64'));
    return signature;
  }
  const mentions = (count: number) => Array.from({ length: count }, () => mention(naming()));
  const read = () => calls.filter((call) => call !== 'list');

  function startWatch(silenceSeconds = SILENCE) {
    const shared: boolean[] = [];
    const connection = {
      async _rpcRequest(_method: string, [signature]: [string]) {
        calls.push(signature);
        const transaction = [sent.get(signature), 'base64'];
        return { result: { slot: 1, transaction, meta: { logMessages: [] } } };
      },
    } as unknown as Connection;
    const watch = createAuthorityWatch({
      chain: {
        connection,
        authority,
        async listOfAuthority() {
          calls.push('list');
          if (!isNodeThere) throw new Error('no node');
          return listed;
        },
        isOwn: (signature) => own.has(signature),
        clock: () => BigInt(NOW),
        read: async () => expect.fail('the clock is read only while another was heard'),
      },
      isInLedger: async () => expect.fail('nothing here is the authority’s'),
      silenceSeconds,
      onChange: (isShared) => void shared.push(isShared),
      log: pino({ level: 'silent' }),
    });
    return { ...watch, shared };
  }

  it('makes one call to the node when all transactions are our own', async () => {
    listed = Array.from({ length: 500 }, (_, number) => mention(`own ${number}`));
    for (const { signature } of listed) own.add(signature);
    const watch = startWatch();
    expect(await watch.poll()).to.equal(true);
    expect(calls).to.deep.equal(['list']);
    expect(watch.shared).to.deep.equal([false]);
  });

  it('reads all unknown transactions first, then those of strangers a few at a time, and none twice', async () => {
    listed = mentions(30);
    const watch = startWatch();
    expect(await watch.poll()).to.equal(true);
    expect(new Set(read()).size).to.equal(30);
    listed = [...mentions(50), ...listed];
    for (const most of [AT_ONCE, 2 * AT_ONCE, 50, 50]) {
      expect(await watch.poll()).to.equal(true);
      expect(read().length).to.equal(30 + most);
    }
    expect(new Set(read()).size).to.equal(80);
  });

  it('does not wait at the start for transactions that the node lacks', async () => {
    listed = [...mentions(5), mention('lacking')];
    const watch = startWatch();
    expect(await watch.poll()).to.equal(true);
    expect(new Set(read()).size).to.equal(6);
  });

  it('does not read transactions that failed, are old or have no time', async () => {
    listed = [
      mention('failed', { err: { InstructionError: [0, 'Custom'] } }),
      mention('old', { blockTime: NOW - SILENCE }),
      mention('timeless', { blockTime: null }),
    ];
    expect(await startWatch().poll()).to.equal(true);
    expect(calls).to.deep.equal(['list']);
  });

  it('reports a node that does not answer, and decides nothing', async () => {
    isNodeThere = false;
    const watch = startWatch();
    const refusal = await watch.poll().catch((error: Error) => error.message);
    expect(refusal).to.equal('no node');
    expect([watch.isAlone(), watch.shared]).to.deep.equal([true, []]);
  });
});
