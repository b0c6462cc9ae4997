/**
 * The relay with two nodes: one dies, falls behind or lies. Executions still end correctly. While the nodes
 * disagree on a fact that decides about money, no money moves.
 */
import { Keypair, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { MAX_LAG_SLOTS } from '../../../app/relay/chain/reader.ts';
import { createRelayChain, type RelayChain } from '../../../app/relay/chain/relayChain.ts';
import { CLOCK_ADDRESS } from '../../../app/sdk/program/clock.ts';
import { RECORD_OFFSETS, RECORD_STATUS_BYTE } from '../../../app/sdk/program/program.ts';
import { nodesOf } from '../../../app/solana/nodes.ts';
import { until } from '../../harness/edge/until.ts';
import { afterPaying, figuresOf, PRICE, type RelayHandle, useMarketplace } from '../../harness/node/marketplace.ts';
import { type CallRule, changing, changingEach, type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

/** Size of a record's data, by which records are recognised in an answer. */
const RECORD_BYTES = 295;

type Answer = { result: { context: { slot: number }; value: ({ data: [string, string] } | null)[] } };

const data = (account: { data: [string, string] } | null) => account && Buffer.from(account.data[0], 'base64');

/** Changes each record in answers to account reads. Null leaves it out. */
const records = (change: (record: Buffer) => Buffer | null): CallRule =>
  changingEach('getMultipleAccounts', (account) => {
    const record = data(account);
    if (record?.length !== RECORD_BYTES) return account;
    const changed = change(record);
    return changed && { ...account, data: [changed.toString('base64'), 'base64'] };
  });

/** Gives each record this status. */
const withStatus = (status: number): CallRule =>
  records((record) => {
    record[RECORD_OFFSETS.status] = status;
    return record;
  });
const err = { InstructionError: [1, { Custom: 6_012 }] };
const refuse = ({ context, value }: { context: object; value: object }) => ({ context, value: { ...value, err } });

describe('two nodes', () => {
  let one: RpcProxy;
  let other: RpcProxy;
  let relay: RelayHandle;
  let log = '';

  const market = useMarketplace({ here: true, slotTimeMs: 100 });
  before(async () => {
    await market.relay.kill();
    [one, other] = await Promise.all([startRpcProxy(market.node), startRpcProxy(market.node)]);
    relay = await market.startRelayProcess(
      {
        SOLANA_RPC_URL: `${one.rpcUrl},${other.rpcUrl}`,
        SOLANA_WS_URL: `${one.wsUrl},${other.wsUrl}`,
      },
      (text) => {
        log += text;
      },
    );
  });
  after(async () => {
    await relay.kill();
    await Promise.all([one.close(), other.close()]);
  });
  afterEach(async () => {
    for (const proxy of [one, other]) {
      proxy.onCall(null);
      proxy.onMessage(null);
      proxy.cutSockets(false);
    }
    market.setBehaviour(null);
    await until('both nodes are in use', async () =>
      (await figures('marketplace_rpc_node_up')).every((up) => up === 1),
    );
    log = '';
  });

  const execute = (task = 'pay', timeout_seconds = 60) => market.execute(relay.url, { task, timeout_seconds });

  const figures = (name: string) => figuresOf(relay.url, name);
  const disagreements = async () =>
    (await figures('marketplace_rpc_disagreements_total')).reduce((sum, count) => sum + count, 0);

  it('continue to pay calls when the first dies, leave it out, and use it again when it is back', async () => {
    const before = await market.balances();
    one.onCall(() => 'cut');
    one.cutSockets(true);
    expect((await execute()).status).to.equal(200);
    await until('the node is left out', async () => (await figures('marketplace_rpc_node_up')).includes(0));
    expect((await execute()).status).to.equal(200);
    expect(await market.balances()).to.deep.equal(afterPaying(before, 2n));
    await until('the log says so', async () => log.includes('"state":"dead"'));
  });

  it('leave out a node that stops advancing until it has caught up', async () => {
    const before = await market.balances();
    const slot = await market.node.connection.getSlot('confirmed');
    const clock = (await market.node.connection.getAccountInfo(CLOCK_ADDRESS))!.data.toString('base64');
    other.onCall(async ({ method, params }, forward) => {
      if (method === 'getSlot') return { json: { ...(await forward()), result: slot } };
      const least = (params.at(-1) as { minContextSlot?: number } | undefined)?.minContextSlot ?? 0;
      if (least > slot) return { json: { jsonrpc: '2.0', id: 1, error: { code: -32016, message: 'behind' } } };
      const answer = (await forward()) as Partial<Answer>;
      if (answer.result?.context) answer.result.context.slot = slot;
      if (method === 'getMultipleAccounts') {
        const at = (params[0] as string[]).indexOf(CLOCK_ADDRESS.toBase58());
        if (answer.result?.value[at]) answer.result.value[at].data[0] = clock;
      }
      return { json: answer };
    });
    await until('the node is left out', async () => (await figures('marketplace_rpc_node_up')).includes(0));
    await until('the log says so', async () => log.includes('"state":"behind"'));
    expect((await execute()).status).to.equal(200);
    expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
  });

  it('distrust a node that leaps ahead, and use the other', async () => {
    const before = await market.balances();
    one.onCall(changing('getSlot', (slot: number) => slot + 1_000_000));
    await until('the node is wrong', async () => log.includes('"state":"wrong"'));
    expect((await execute()).status).to.equal(200);
    expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
  });

  const LIES: [name: string, rule: CallRule][] = [
    ['a record has ended when it is open', withStatus(RECORD_STATUS_BYTE.refunded)],
    ['a record is open when it has ended', withStatus(RECORD_STATUS_BYTE.open)],
    ['a record does not exist', records(() => null)],
    [
      'a record has another signing key',
      records((record) => record.fill(7, RECORD_OFFSETS.signingKey, RECORD_OFFSETS.signingKey + 32)),
    ],
    ['a settle has a bad signature', changing('simulateTransaction', refuse)],
  ];
  // The two nodes lie in turn.
  for (const [index, [name, rule]] of LIES.entries()) {
    const which = index % 2 === 0 ? 'first' : 'second';
    it(`decide nothing until they agree when the ${which} node says that ${name}`, async () => {
      const liar = which === 'first' ? one : other;
      const before = await market.balances();
      const counted = await disagreements();
      liar.onCall(rule);
      const answered = execute();
      await until('it is found out', async () => (await disagreements()) > counted);
      await until('the log says so', async () => log.includes('two nodes disagree'));
      for (const proxy of [one, other]) expect(log).to.include(new URL(proxy.rpcUrl).host);
      // The escrow stays unchanged, and the treasury has only earlier fees.
      const meanwhile = await market.balances();
      expect(meanwhile.callers[0]! >= before.callers[0]! - PRICE).to.equal(true);
      liar.onCall(null);
      const answer = await answered;
      expect(answer.status, answer.text).to.equal(200);
      expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
      expect(market.calls.get(answer.body.execution_id)).to.equal(1);
    });
  }

  it('keep an open valid and pay it once when the first node says that every transaction has failed', async () => {
    const before = await market.balances();
    const failed = (status: object | null) => status ?? { slot: 1, confirmationStatus: 'confirmed' };
    one.onCall(changingEach('getSignatureStatuses', (status) => ({ ...failed(status), err })));
    // Drops notifications, so that the relay has to ask the nodes.
    for (const proxy of [one, other]) {
      proxy.onMessage((message, pass) => (message.method === 'logsNotification' ? undefined : pass()));
    }
    const answer = await execute();
    const id = answer.body.execution_id;
    expect(answer.status, answer.text).to.be.oneOf([200, 202]);
    one.onCall(null);
    await until('it ends', async () => (await market.record(id))?.status === 'completed');
    expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
  });

  describe('when they must agree', () => {
    let chain: RelayChain;
    const nobody = Keypair.generate().publicKey;
    const transfer = () =>
      SystemProgram.transfer({ fromPubkey: chain.authority, toPubkey: chain.authority, lamports: 1 });
    const openChain = () =>
      createRelayChain({
        rpcUrl: one.rpcUrl,
        wsUrl: one.wsUrl,
        moreNodes: [{ rpcUrl: other.rpcUrl, wsUrl: null }],
        authority: market.authority,
        log: pino({ level: 'silent' }),
      });
    beforeEach(async () => {
      chain = openChain();
      await chain.poll();
    });
    afterEach(() => chain.close());

    it('give no finalized height when one leaps ahead, and no bytes count as expired', async () => {
      const { blockHeight } = await chain.finalized();
      const far = BigInt(blockHeight) + 10_000n;
      one.onCall(changing('getEpochInfo', (info) => ({ ...info, blockHeight: Number(far) })));
      const refusal = await chain.readPast([nobody], far - 1n).catch((error: Error) => error.message);
      expect(refusal).to.include('disagree on the finalized height');
      one.onCall(null);
      expect(await chain.readPast([nobody], far - 1n)).to.equal(null);
      expect((await chain.readPast([nobody], blockHeight - 1n))?.accounts).to.deep.equal([null]);
    });

    for (const [how, aheadBy] of [
      ['names a high slot from the start on', () => 1_000],
      ['runs ahead little by little', (ms: number) => Math.floor(ms / 11)],
    ] as [string, (ms: number) => number][]) {
      it(`do not let one node decide alone if it ${how}`, async () => {
        const began = performance.now();
        const ahead = changing('getSlot', (slot: number) => slot + aheadBy(performance.now() - began));
        // Every account except the clock is reported as missing.
        const empty = changingEach('getMultipleAccounts', (account) => (data(account)?.length === 40 ? account : null));
        one.onCall(async (...call) => (await ahead(...call)) ?? empty(...call));
        chain.close();
        chain = openChain();
        await chain.poll();
        await until('it is far ahead', async () => {
          const [ahead, right] = chain.nodes();
          return ahead!.slot! - right!.slot! > MAX_LAG_SLOTS;
        });
        const refusal = await chain.readAgreed([market.authority.publicKey]).catch((error: Error) => error.message);
        expect(refusal).to.include('disagree on accounts');
        expect(chain.nodes()[1]?.state).to.equal('up');
        await until('it is wrong', async () => chain.nodes()[0]?.state === 'wrong');
      });
    }

    it('sign nothing when one node says that bytes expire at once', async () => {
      one.onCall(
        changing('getLatestBlockhash', ({ context, value }) => ({
          context,
          value: { ...value, lastValidBlockHeight: 5 },
        })),
      );
      const refusal = await chain.sign([transfer()], 0n).catch((error: Error) => error.message);
      expect(refusal).to.include('disagree on the last valid height');
      one.onCall(null);
      expect((await chain.sign([transfer()], 0n)).lastValidHeight > 5n).to.equal(true);
    });

    it('read from the second node when the first does not answer, and send to both', async () => {
      const sent: string[] = [];
      let asked = 0;
      let askedBefore: number | null = null;
      // The relay also reads accounts of its own.
      const isOurs = (call: { method: string; params?: unknown }) =>
        call.method === 'getMultipleAccounts' && JSON.stringify(call.params).includes(nobody.toBase58());
      one.onCall((call) => {
        if (isOurs(call)) asked += 1;
        return 'cut';
      });
      other.onCall((call) => {
        if (isOurs(call)) askedBefore ??= asked;
        sent.push(call.method);
        return null;
      });
      expect((await chain.read([nobody])).accounts).to.deep.equal([null]);
      // With two nodes, each is asked once before one is asked twice.
      expect(askedBefore).to.equal(1);
      const stop = new AbortController();
      const submit = async () => chain.submit(await chain.sign([transfer()], 0n), async () => false, stop.signal);
      // It has ended before the next one is sent: a transaction on its way is sent only once.
      expect(await submit()).to.deep.equal({ kind: 'confirmed' });
      expect(sent).to.include('sendTransaction');
      one.onCall(null);
      const both: string[] = [];
      for (const [name, proxy] of Object.entries({ one, other })) {
        proxy.onCall(({ method }) => {
          if (method === 'sendTransaction') both.push(name);
          return null;
        });
      }
      const outcome = submit();
      await until('both have it', async () => new Set(both).size === 2);
      stop.abort();
      await outcome;
    });
  });
});

describe('SOLANA_RPC_URL', () => {
  it('names one or more nodes, and SOLANA_WS_URL names the WebSockets of the first ones', () => {
    expect(nodesOf('http://a', 'ws://a')).to.deep.equal([{ rpcUrl: 'http://a', wsUrl: 'ws://a' }]);
    expect(nodesOf('http://a, http://b', 'ws://a')).to.deep.equal([
      { rpcUrl: 'http://a', wsUrl: 'ws://a' },
      { rpcUrl: 'http://b', wsUrl: null },
    ]);
    expect(() => nodesOf('http://a', 'ws://a,ws://b')).to.throw('SOLANA_WS_URL names more nodes than SOLANA_RPC_URL');
  });
});
