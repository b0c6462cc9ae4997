import { type Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { createApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { hashResult, parseUuid, requestHash, signMessage, startMessage } from '../../../app/sdk/receipt/receipt.ts';
import { openByWallet, refund } from '../../../app/sdk/wallet/executions.ts';
import { clientOf } from '../../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  afterPaying,
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';

const TASK = 'opened by its wallet';
const PARAMETERS = { city: 'Lagos' };

describe('POST /v1/executions/{execution_id}/start', () => {
  const market = useMarketplace();
  beforeEach(() => market.setBehaviour(null));

  const caller = (index = 0) => market.callers[index]!;

  /** Funds an escrow without the relay, as an integrator would. */
  async function open(options: { timeoutSeconds?: number; wallet?: Keypair } = {}) {
    const opened = await openByWallet(market.marketplace, {
      wallet: keypairSigner(options.wallet ?? caller().wallet),
      agentId: new PublicKey(market.agentId),
      requestHash: requestHash(TASK, PARAMETERS),
      ...(options.timeoutSeconds && { timeoutSeconds: options.timeoutSeconds }),
    });
    return { id: opened.execution_id, record: opened.record, hash: opened.request_hash };
  }

  const start = (id: string, body: Record<string, unknown> = {}, apiKey: string | null = caller().apiKey) =>
    request(market.relay.url, `/v1/executions/${id}/start`, {
      body: { task: TASK, parameters: PARAMETERS, ...body },
      ...(apiKey !== null && { apiKey }),
    });

  async function refused(answer: Answer, status: number, code: string): Promise<Answer> {
    expect([answer.status, answer.body.error?.code], answer.text).to.deep.equal([status, code]);
    return answer;
  }

  const signatureOf = (wallet: Keypair, opened: { record: string; hash: string }) =>
    signMessage(wallet.secretKey, startMessage(opened.record, opened.hash));

  it('runs an execution with an API key of the same wallet, and pays creator and marketplace exactly once', async () => {
    const seen: number[] = [];
    market.setBehaviour(({ execution_id, timeout_seconds }, _response, reply) => {
      seen.push(timeout_seconds);
      reply(goodAnswer(market.signingKey, execution_id, `done: ${TASK}`));
    });
    const before = await market.balances();
    const opened = await open({ timeoutSeconds: 40 });
    const answer = await start(opened.id);
    expect(answer.status, answer.text).to.equal(200);
    // The agent has the time that is left.
    expect(seen).to.have.length(1);
    expect(seen[0]).to.be.within(20, 40);
    expect(answer.body).to.include({
      execution_id: opened.id,
      status: 'completed',
      result: `done: ${TASK}`,
      result_hash: hashResult(`done: ${TASK}`),
      cost_usdc: 0.25,
    });
    const after = await market.balances();
    expect(after).to.deep.equal(afterPaying(before));
    const record = await market.record(opened.id);
    expect(record?.status).to.equal('completed');
    expect(record?.keyId.every((byte) => byte === 0)).to.equal(true);
    expect(await market.escrowExists(opened.id)).to.equal(false);

    const again = await start(opened.id);
    expect([again.status, again.text]).to.deep.equal([200, answer.text]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(market.calls.get(opened.id)).to.equal(1);
    expect(await market.balances()).to.deep.equal(after);
  });

  it("runs an execution with the wallet's signature alone, without any key", async () => {
    const before = await market.balances();
    const opened = await open({ wallet: caller(1).wallet });
    const answer = await start(opened.id, { wallet_signature: signatureOf(caller(1).wallet, opened) }, null);
    expect([answer.status, answer.body.status], answer.text).to.deep.equal([200, 'completed']);
    expect((await market.balances()).callers).to.deep.equal([before.callers[0], before.callers[1]! - PRICE]);
  });

  it('shows a paid result to a caller without a key, however the call was first requested', async () => {
    const { wallet } = caller(1);
    const address = wallet.publicKey.toBase58();
    const opened = await open({ wallet });
    const proof = { wallet_signature: signatureOf(wallet, opened) };
    const later = () => start(opened.id, { ...proof, async: true }, null);
    expect((await later()).body).to.deep.equal({ execution_id: opened.id, status: 'pending' });

    const anonymous = clientOf({ baseUrl: market.relay.url });
    const { message } = await anonymous.call('auth.challenge', { wallet: address });
    const signature = signMessage(wallet.secretKey, message).slice('ed25519:'.length);
    const { token } = await anonymous.call('auth.verify', { wallet: address, message, signature });
    const read = () => request(market.relay.url, `/v1/executions/${opened.id}`, { apiKey: token });
    let answer = await later();
    await until('the execution is done', async () => {
      answer = await later();
      return answer.body.status !== 'pending';
    });
    expect([answer.status, answer.body.status], answer.text).to.deep.equal([200, 'completed']);
    expect(answer.body).to.include({ result: `done: ${TASK}`, cost_usdc: 0.25 });
    const sync = await start(opened.id, proof, null);
    expect([sync.status, sync.text]).to.deep.equal([200, answer.text]);
    expect((await later()).text).to.equal(answer.text);
    expect((await read()).body).to.include({ result: `done: ${TASK}`, ipfs_url: answer.body.ipfs_url });
    expect((await read()).body.signature).to.match(/^ed25519:/);
    expect(market.calls.get(opened.id)).to.equal(1);
  });

  it('refunds the full price when the creator fails', async () => {
    market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id)));
    const before = await market.balances();
    const opened = await open();
    await refused(await start(opened.id), 500, 'execution_failed');
    expect(await market.balances()).to.deep.equal(before);
    expect((await market.record(opened.id))?.status).to.equal('refunded');
    expect((await start(opened.id)).headers.get('idempotent-replayed')).to.equal('true');
  });

  describe('rejects, and starts nothing:', () => {
    let opened: Awaited<ReturnType<typeof open>>;
    before(async () => {
      opened = await open();
    });
    afterEach(async () => {
      expect((await market.record(opened.id))?.status).to.equal('open');
      expect(await market.escrowExists(opened.id)).to.equal(true);
      expect(market.calls.get(opened.id)).to.equal(undefined);
    });

    it('another task or other parameters than the execution was opened for', async () => {
      for (const body of [{ task: 'another' }, { parameters: {} }, { parameters: { city: 'Lima' } }]) {
        const answer = await refused(await start(opened.id, body), 400, 'invalid_request');
        expect(answer.body.error.details.issues[0].expected).to.include(opened.hash);
      }
    });

    it('no key and no signature, and a key that does not exist', async () => {
      await refused(await start(opened.id, {}, null), 401, 'unauthorized');
      await refused(await start(opened.id, {}, createApiKey('test')), 401, 'unauthorized');
    });

    it('the signature of another wallet, over another record, or malformed', async () => {
      const stranger = signatureOf(caller(1).wallet, opened);
      const elsewhere = signatureOf(caller().wallet, { ...opened, record: market.agentId });
      for (const wallet_signature of [stranger, elsewhere]) {
        await refused(await start(opened.id, { wallet_signature }, null), 401, 'unauthorized');
      }
      await refused(await start(opened.id, { wallet_signature: 'ed25519:0' }, null), 400, 'invalid_request');
    });
  });

  it('rejects: an execution that was opened with a key', async () => {
    let fail: (() => void) | null = null;
    market.setBehaviour((called, _response, reply) => {
      fail = () => reply(failedAnswer(called.execution_id));
    });
    const body = { task: TASK, parameters: PARAMETERS, async: true, timeout_seconds: 30 };
    const answer = await market.execute(market.relay.url, body);
    await refused(await start(answer.body.execution_id), 409, 'request_in_progress');
    await until('the creator is called', () => fail !== null);
    fail!();
    await until(
      'the execution has come so far',
      async () => (await market.record(answer.body.execution_id))?.status === 'refunded',
    );
  });

  it('rejects: an execution with too little time left, and one that its wallet refunded', async () => {
    const opened = await open({ timeoutSeconds: 10 });
    const record = (await market.record(opened.id))!;
    await market.node.timeTravel(Number(record.deadline));
    const late = await refused(await start(opened.id), 409, 'not_startable');
    expect(late.body.error.details).to.deep.equal({ reason: 'too_late' });
    await market.node.timeTravel(Number(record.refundAt) + 1);
    const { wallet } = caller();
    const before = (await market.balances()).callers[0]!;
    await refund(market.marketplace, { wallet: keypairSigner(wallet), executionId: parseUuid(opened.id)! });
    expect((await market.balances()).callers[0]).to.equal(before + PRICE);
    const ended = await refused(await start(opened.id), 409, 'not_startable');
    expect(ended.body.error.details).to.deep.equal({ reason: 'ended' });
    expect(market.calls.get(opened.id)).to.equal(undefined);
  });
});
