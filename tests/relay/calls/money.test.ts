/**
 * Paid calls on a real node with a real creator's server: for every outcome of a call, the exact answer and all
 * balances.
 */
import { createCloseAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { sendAndConfirm } from '../../../app/local/network.ts';
import { generateSigningKey } from '../../../app/sdk/creator/creator.ts';
import { approveSpender, findSpender, findTokenAccount, type GrantLimits } from '../../../app/sdk/program/program.ts';
import { createApiKey } from '../../../app/sdk/receipt/apiKey.ts';
import { hashResult, parseUuid, requestHash, signMessage, startMessage } from '../../../app/sdk/receipt/receipt.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { openByWallet, refund } from '../../../app/sdk/wallet/executions.ts';
import { clientOf } from '../../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until, untilFound } from '../../harness/edge/until.ts';
import {
  type Answer,
  afterPaying,
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { useSharedMarketplace } from './market.ts';

describe('paid calls', () => {
  const stranger = generateSigningKey();

  const market = useSharedMarketplace();
  beforeEach(() => market.setBehaviour(null));

  const execute = (body: object, apiKey?: string) => market.execute(market.relay.url, body, { apiKey });
  const read = (id: string, apiKey?: string) => market.read(market.relay.url, id, apiKey);

  const untilShown = (id: string, status: string) =>
    untilFound(`${id} is ${status}`, async () => {
      const { body } = await read(id);
      return body.status === status ? body : null;
    });

  it('splits a synchronous call 99 to 1, and answer, record, index and chain agree', async () => {
    const before = await market.balances();
    const answer = await execute({ task: 'sums', parameters: { a: 1 } });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({
      status: 'completed',
      result: 'done: sums',
      result_hash: hashResult('done: sums'),
      cost_usdc: 0.25,
      tokens_used: 7,
    });
    expect(await market.balances()).to.deep.equal(afterPaying(before));
    const id = answer.body.execution_id;
    const record = (await market.record(id))!;
    expect(record.status).to.equal('completed');
    expect(`sha256:${Buffer.from(record.resultHash).toString('hex')}`).to.equal(answer.body.result_hash);
    expect(await market.escrowExists(id)).to.equal(false);
    const full = (await read(id)).body;
    expect(full).to.include({
      status: 'completed',
      agent_id: market.agentId,
      agent_name: 'test-agent',
      cost_usdc: 0.25,
      creator_amount_usdc: 0.2475,
      platform_amount_usdc: 0.0025,
      ipfs_url: answer.body.ipfs_url,
    });
    expect(full.initiated_at).to.equal(new Date(Number(record.openedAt) * 1000).toISOString());
    const text = await fetch(answer.body.ipfs_url);
    expect(hashResult(await text.text())).to.equal(record && answer.body.result_hash);
    expect(market.calls.get(id)).to.equal(1);
  });

  it('shows an asynchronous call as pending once its escrow is funded, and ends it without another request', async () => {
    const before = await market.balances();
    let release: () => void = () => undefined;
    market.setBehaviour((body, _response, reply) => {
      release = () => reply(goodAnswer(market.signingKey, body.execution_id, 'later'));
    });
    const answer = await execute({ task: 'slow', async: true });
    expect(answer.status).to.equal(200);
    expect(answer.body.status).to.equal('pending');
    const id = answer.body.execution_id;
    expect(await market.escrowExists(id)).to.equal(true);
    expect((await market.balances()).callers[0]).to.equal(before.callers[0]! - PRICE);
    expect(await untilShown(id, 'running')).to.include({ result: null, cost_usdc: 0.25, completed_at: null });
    await until('the creator is called', async () => market.calls.has(id));
    release();
    expect(await untilShown(id, 'completed')).to.include({ result: 'later', creator_amount_usdc: 0.2475 });
    expect(await market.balances()).to.deep.equal(afterPaying(before));
  });

  describe('limits that answer 402', () => {
    async function keyWith(usdc: bigint, limits: Partial<GrantLimits>, allowance?: bigint) {
      const wallet = Keypair.generate();
      await market.node.fundSol(wallet.publicKey, 10e9);
      await market.mintTo(wallet.publicKey, usdc);
      const options = { wallet: keypairSigner(wallet), name: 'limited', limits: { ...market.limits, ...limits } };
      const key = await createKey(market.marketplace, { ...options, ...(allowance !== undefined && { allowance }) });
      return { wallet, apiKey: key.api_key, usdc: findTokenAccount(wallet.publicKey, market.usdcMint) };
    }
    it('are none for a key whose limits and allowance are the largest numbers of the program', async () => {
      const most = 2n ** 64n - 1n;
      const caller = await keyWith(PRICE, { perExecutionMax: most, periodMax: most, totalMax: most }, most);
      await market.node.fundSol(findSpender(caller.wallet.publicKey), 1e9);
      const answer = await execute({ task: 'x' }, caller.apiKey);
      expect(answer.status, answer.text).to.equal(200);
    });

    const cases: [string, bigint, Partial<GrantLimits>, bigint | undefined, string][] = [
      ['balance', 249_999n, {}, undefined, '0.249999'],
      ['allowance', 1_000_000n, {}, 249_999n, '0.249999'],
      ['per_execution', 1_000_000n, { perExecutionMax: 249_999n }, undefined, '0.249999'],
      ['period', 1_000_000n, { periodMax: 249_999n }, undefined, '0.249999'],
      ['total', 1_000_000n, { totalMax: 249_999n }, 1_000_000n, '0.249999'],
    ];
    for (const [limit, usdc, limits, allowance, have] of cases) {
      it(limit, async () => {
        const caller = await keyWith(usdc, limits, allowance);
        const before = await market.balances();
        const answer = await execute({ task: 'x' }, caller.apiKey);
        expect(answer.status).to.equal(402);
        expect(answer.body.error.code).to.equal('insufficient_balance');
        expect(answer.body.error.message).to.include(caller.wallet.publicKey.toBase58()).and.include(have);
        expect(answer.body.error.message).to.include('0.25 USDC');
        const isExplained = answer.body.error.message.includes('a refund does not give it back');
        expect(isExplained).to.equal(limit === 'allowance');
        const wallet = caller.wallet.publicKey.toBase58();
        const { renews_at, ...details } = answer.body.error.details;
        expect(details).to.deep.equal({ limit, wallet, have_usdc: 0.249999, need_usdc: 0.25 });
        // The period has just begun; the chain's clock can be a little behind ours.
        if (limit !== 'period') expect(renews_at).to.equal(null);
        else expect(Date.parse(renews_at) - Date.now()).to.be.within(1, 32 * 86_400_000);
        expect(await market.amountOf(caller.usdc)).to.equal(usdc);
        expect(await market.balances()).to.deep.equal(before);
      });
    }
  });

  it('shows a failed call as ended only after its refund has landed', async () => {
    market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id)));
    for (let round = 0; round < 2; round += 1) {
      const { body } = await execute({ task: 'x', async: true });
      let shown = (await read(body.execution_id)).body;
      while (shown.status === 'pending' || shown.status === 'running') {
        expect(shown).to.include({ cost_usdc: 0.25, completed_at: null, error: null });
        expect(shown.refund).to.be.oneOf([null, 'pending']);
        shown = (await read(body.execution_id)).body;
      }
      expect(shown).to.include({ status: 'failed', cost_usdc: 0, refund: 'done' });
      expect(shown.completed_at).to.be.a('string');
      expect((await market.record(body.execution_id))?.status).to.equal('refunded');
    }
  });

  /** Moves all USDC of an account to a new one of nobody, and closes it. */
  async function closeAccount(owner: Keypair, account: PublicKey): Promise<void> {
    const elsewhere = await market.mintTo(Keypair.generate().publicKey, 0n);
    const away = createTransferInstruction(account, elsewhere, owner.publicKey, await market.amountOf(account));
    const close = createCloseAccountInstruction(account, owner.publicKey, owner.publicKey);
    await sendAndConfirm(market.node.connection, [away, close], [owner]);
  }

  describe('a refund that cannot arrive yet waits, and lands once its account', () => {
    type Change = (caller: TestMarketplace['callers'][0]) => Promise<unknown>;
    const CASES: Record<string, { says: string; spoil: Change; mend: Change; has: (before: bigint) => bigint }> = {
      'exists again': {
        says: 'missing',
        spoil: ({ wallet, usdc }) => closeAccount(wallet, usdc),
        mend: ({ wallet }) => market.mintTo(wallet.publicKey, 5n),
        has: () => PRICE + 5n,
      },
      'is not frozen any more': {
        says: 'frozen',
        spoil: ({ usdc }) => market.setFrozen(usdc, true),
        mend: ({ usdc }) => market.setFrozen(usdc, false),
        has: (before) => before,
      },
    };
    for (const [what, { says, spoil, mend, has }] of Object.entries(CASES)) {
      it(what, async () => {
        const caller = market.callers[1]!;
        const before = await market.amountOf(caller.usdc);
        market.setBehaviour((body, _response, reply) => {
          spoil(caller).then(() => reply(goodAnswer(stranger, body.execution_id, 'x')));
        });
        const answer = await execute({ task: 'x' }, caller.apiKey);
        expect(answer.status).to.equal(500);
        expect(answer.body.error.message).to.include('waits').and.include(says);
        const id = answer.body.error.execution_id;
        const waiting = { status: 'failed', refund: 'waiting', cost_usdc: 0.25 };
        expect((await read(id, caller.apiKey)).body).to.include(waiting);
        expect(await market.escrowExists(id)).to.equal(true);
        await mend(caller);
        let shown = (await read(id, caller.apiKey)).body;
        while (shown.refund !== 'done') {
          expect(shown).to.include(waiting);
          shown = (await read(id, caller.apiKey)).body;
        }
        expect(await market.amountOf(caller.usdc)).to.equal(has(before));
        expect(await market.escrowExists(id)).to.equal(false);
        // Closing the account also removed its delegation.
        await market.mintTo(caller.wallet.publicKey, before);
        const { publicKey: wallet } = caller.wallet;
        const approval = approveSpender({ wallet, usdcMint: market.usdcMint, amount: 1_000_000_000n });
        await sendAndConfirm(market.node.connection, [approval], [caller.wallet]);
      });
    }
  });

  it('pays nobody when the payout account of the creator is closed', async () => {
    const held = await market.amountOf(market.creatorUsdc);
    await closeAccount(market.creator, market.creatorUsdc);
    const before = await market.balances();
    const answer = await execute({ task: 'x' });
    expect(answer.status).to.equal(500);
    expect(answer.body.error.message).to.include('payout');
    expect((await market.balances()).callers).to.deep.equal(before.callers);
    await market.mintTo(market.creator.publicKey, held);
    expect((await execute({ task: 'x' })).status).to.equal(200);
  });

  describe('POST /v1/executions/{execution_id}/start', () => {
    const TASK = 'opened by its wallet';
    const PARAMETERS = { city: 'Lagos' };

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
});
