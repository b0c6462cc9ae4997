import type { RequestListener } from 'node:http';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { KEY_DIRECTORY_PATH } from '../../../app/sdk/creator/callSignature.ts';
import {
  type CallPurpose,
  createExecutionHandler,
  generateSigningKey,
  signingKeyAddress,
} from '../../../app/sdk/creator/creator.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { replaceSigningKey } from '../../../app/sdk/wallet/upkeep.ts';
import { useServers } from '../../harness/edge/listen.ts';
import { PRICE, useMarketplace } from '../../harness/node/marketplace.ts';

/** Parallel callers, and the calls that each makes after the rotation before the test ends. */
const CALLERS = 4;
const CALLS_AFTER = 4;

describe('calls to creators', () => {
  const start = useServers();
  const market = useMarketplace();

  const serve = async (listener: RequestListener) => `${await start(listener)}/execute`;
  const trusted = () => ({ directoryUrl: `${market.relay.url}${KEY_DIRECTORY_PATH}` });
  const execute = (agent: string, task: string, caller = 0) =>
    market.execute(market.relay.url, { task }, { agent, caller });

  it('lose no call when a key changes under load: each call names the key that signed it', async () => {
    const [old, fresh] = [generateSigningKey(), generateSigningKey()];
    const named = new Map<string, string | null>();
    const endpoint = await serve(
      createExecutionHandler({
        signingKey: [fresh, old],
        verify: trusted(),
        execute({ task, executionId, signingKey }) {
          named.set(executionId, signingKey);
          return { result: `done: ${task}` };
        },
      }),
    );
    const agentId = await market.list({ name: 'rotating-agent', endpoint, signingKey: old });
    const before = await market.balances();
    const ids: string[] = [];
    let isRotated = false;

    async function keepCalling(caller: number): Promise<void> {
      for (let left = CALLS_AFTER; left > 0; left -= isRotated ? 1 : 0) {
        const answer = await execute(agentId, `of ${caller}`, caller % market.callers.length);
        expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, `done: of ${caller}`]);
        ids.push(answer.body.execution_id);
      }
    }
    const calling = Array.from({ length: CALLERS }, (_, caller) => keepCalling(caller));
    const all = Promise.all(calling);
    while (ids.length < CALLERS) await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 20))]);
    const { wallet, agent } = { wallet: keypairSigner(market.creator), agent: new PublicKey(agentId) };
    await replaceSigningKey(market.marketplace, { wallet, agentId: agent, signingKey: fresh });
    isRotated = true;
    await all;

    const recorded = await Promise.all(ids.map(async (id) => (await market.record(id))!.signingKey.toBase58()));
    expect(new Set(recorded)).to.deep.equal(new Set([old, fresh].map(signingKeyAddress)));
    expect(ids.map((id) => named.get(id))).to.deep.equal(recorded);
    const after = await market.balances();
    const paid = before.callers.reduce((sum, had, index) => sum + had - after.callers[index]!, 0n);
    expect(paid).to.equal(PRICE * BigInt(ids.length));
  });

  it('refund the caller immediately when the server does not have the new key yet', async () => {
    const [old, fresh] = [generateSigningKey(), generateSigningKey()];
    const handle = createExecutionHandler({ signingKey: old, execute: ({ task }) => ({ result: task }) });
    const endpoint = await serve(handle);
    const agentId = await market.list({ name: 'forgetful-agent', endpoint, signingKey: old });
    await replaceSigningKey(market.marketplace, {
      wallet: keypairSigner(market.creator),
      agentId: new PublicKey(agentId),
      signingKey: fresh,
    });
    const before = await market.balances();
    const answer = await execute(agentId, 'x');
    expect([answer.status, answer.body.error.code]).to.deep.equal([500, 'execution_failed']);
    expect(answer.body.error.message).to.include(`does not have the signing key ${signingKeyAddress(fresh)}`);
    expect(await market.balances()).to.deep.equal(before);
  });

  it('name their purpose, and have a new nonce with each retry, which a server that rejects repeated nonces accepts', async () => {
    const signingKey = generateSigningKey();
    const purposes: CallPurpose[] = [];
    const handle = createExecutionHandler({
      signingKey,
      verify: trusted(),
      execute({ task, purpose }) {
        purposes.push(purpose);
        return { result: task };
      },
    });
    const nonces: string[] = [];
    let isListed = false;
    const endpoint = await serve((request, response) => {
      const [, nonce = ''] = /nonce="([^"]+)"/.exec(String(request.headers['signature-input'])) ?? [];
      const status = nonces.includes(nonce) ? 401 : isListed && nonces.length === 1 ? 503 : 200;
      nonces.push(nonce);
      if (status === 200) handle(request, response);
      else response.writeHead(status).end();
    });
    const agentId = await market.list({ name: 'wary-agent', endpoint, signingKey });
    isListed = true;
    nonces.length = 1;
    const answer = await execute(agentId, 'again');
    expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, 'again']);
    expect(nonces).to.have.length(3);
    expect(nonces).to.not.include(answer.body.execution_id);
    expect(purposes).to.deep.equal(['test', 'execution']);
  });
});
