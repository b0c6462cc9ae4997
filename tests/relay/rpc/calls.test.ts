/** RPC calls per execution, counted by a proxy in front of the node, because providers bill each call. */
import { expect } from 'chai';
import { useMarketplace } from '../../harness/node/marketplace.ts';
import { type RpcProxy, startRpcProxy } from '../../harness/node/rpcProxy.ts';

const EXECUTIONS = 48;
const CONCURRENCY = 24;
/**
 * Slots as long as a cluster's. A cluster confirms all transactions of a slot at once; the proxy makes this node do the
 * same.
 */
const SLOT_MS = 200;
/** The most calls for one execution, including its two sends. */
const MOST_CALLS = 4;
/** Calls that are made on a timer while something waits. A busy machine makes more of them per execution. */
const BY_CLOCK = ['getSignatureStatuses', 'getLatestBlockhash', 'getEpochInfo', 'getRecentPrioritizationFees'];
/** A resend of the same bytes, because they were not confirmed in time. */
const SENT_AGAIN = 'sendTransaction again';

describe('calls to the node', () => {
  const counts = new Map<string, number>();
  const sent = new Set<unknown>();
  let held: (() => void)[] = [];
  let slots: NodeJS.Timeout;

  let proxy: RpcProxy;
  const market = useMarketplace({
    async environment(node) {
      proxy = await startRpcProxy(node);
      return proxy.environment;
    },
  });
  before(() => {
    proxy.onCall(({ method, params: [bytes] }) => {
      const name = method === 'sendTransaction' && sent.has(bytes) ? SENT_AGAIN : method;
      if (method === 'sendTransaction') sent.add(bytes);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return null;
    });
    proxy.onMessage((message, pass) => {
      if (message.method === 'logsNotification') held.push(pass);
      else pass();
    });
    slots = setInterval(() => {
      for (const pass of held) pass();
      held = [];
    }, SLOT_MS);
  });
  after(async () => {
    clearInterval(slots);
    await proxy.close();
  });

  /** Calls per execution, without those on a timer. */
  async function measure(): Promise<number> {
    counts.clear();
    let left = EXECUTIONS;
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const answer = await market.execute(market.relay.url, { task: 'pay' }, { caller: left % 2 });
        expect(answer.status, answer.text).to.equal(200);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, caller));
    expect(counts.get('sendTransaction')).to.be.above(0);
    const counted = [...counts].filter(([name]) => !BY_CLOCK.includes(name) && name !== SENT_AGAIN);
    return counted.reduce((sum, [, one]) => sum + one, 0) / EXECUTIONS;
  }

  it(`are at most ${MOST_CALLS} for each execution in steady state`, async () => {
    let each = await measure();
    // The first executions, and late confirmations on a busy machine, need more account reads.
    for (let again = 0; again < 3 && each > MOST_CALLS; again += 1) each = await measure();
    expect(each, JSON.stringify([...counts])).to.be.at.most(MOST_CALLS);
  });
});
