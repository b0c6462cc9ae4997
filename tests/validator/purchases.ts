/** A chapter of the newcomer: purchases by x402. The node must accept the trial of a payment before its deposit exists. */
import { ComputeBudgetProgram, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { readKeypair } from '../../app/relay/config.ts';
import { createX402Fetch, decodeHeader, makePayment, type PaymentChange, paymentHeader } from '../harness/node/x402.ts';
import type { Stage } from './stage.ts';

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

export function tellOfPurchases(stage: () => Stage): void {
  describe('purchases by x402', () => {
    function purchase() {
      const { demo, agent } = stage().visit();
      const url = `${demo.base_url}/v1/x402/agents/${agent('sandbox-echo').agent_id}/execute`;
      const post = (task: string, headers: Record<string, string> = {}) => ({
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ task }),
      });
      return { demo, wallet: readKeypair(demo.callers[0]!.keypair_path), url, post };
    }

    it('sells a call to an unmodified client', async () => {
      const { demo, wallet, url, post } = purchase();
      const pay = await createX402Fetch(wallet, demo.rpc_url);
      const answer = await pay(url, post('bought'));
      const text = await answer.text();
      expect([answer.status, JSON.parse(text).result], text).to.deep.equal([200, 'bought']);
    });

    const failing: Record<string, PaymentChange> = {
      'a memo that is not UTF-8': {
        instructions: (usual) => [
          ...usual.slice(0, 3),
          new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from([0xff]) }),
        ],
      },
      'too few compute units': {
        instructions: ([, ...rest]) => [ComputeBudgetProgram.setComputeUnitLimit({ units: 310 }), ...rest],
      },
    };
    for (const [what, change] of Object.entries(failing)) {
      it(`refuses a payment that would fail before its deposit is made: ${what}`, async () => {
        const { wallet, url, post } = purchase();
        const { connection } = stage().validator;
        const quoted = await fetch(url, post(what));
        const [accepted] = decodeHeader(quoted, 'payment-required').accepts;
        const payers = [stage().identities.relayAuthority.publicKey, new PublicKey(accepted.extra.feePayer)];
        const held = () => Promise.all(payers.map((payer) => connection.getBalance(payer, 'processed')));
        const before = await held();
        const payment = await makePayment({ connection }, accepted, wallet, change);
        const answer = await fetch(url, post(what, { 'payment-signature': paymentHeader(accepted, payment) }));
        const { error } = (await answer.json()) as { error: { details: object } };
        expect([answer.status, error.details]).to.deep.equal([402, { reason: 'payment_failed' }]);
        expect(await held()).to.deep.equal(before);
        expect(await connection.getAccountInfo(new PublicKey(accepted.payTo), 'processed')).to.equal(null);
      });
    }
  });
}
