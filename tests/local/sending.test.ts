/** Sending by migration and deployment: a transaction that may have landed is never reported as failed. */
import anchor from '@coral-xyz/anchor';
import { type Connection, Keypair, SendTransactionError, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { sendAndPoll } from '../../migrations/deploy.ts';

const LAST_HEIGHT = 100;
const SLOT = 7;

/** A node past the transaction's last block height. It reports `status`, and throws `refused` for the transaction. */
function nodeWith(status: object | null, refused?: Error): Connection {
  const key = Keypair.generate().publicKey;
  let isPast = false;
  return {
    getLatestBlockhash: async () => ({ blockhash: key.toBase58(), lastValidBlockHeight: LAST_HEIGHT }),
    sendRawTransaction: async () => {
      if (refused) throw refused;
    },
    getBlockHeight: async () => {
      isPast = true;
      return LAST_HEIGHT + 1;
    },
    // The transaction landed in its last valid block.
    getSignatureStatus: async () => ({ value: isPast ? status : null }),
  } as unknown as Connection;
}

async function send(node: Connection): Promise<number> {
  const payer = Keypair.generate();
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 });
  return (await sendAndPoll(node, new anchor.Wallet(payer), [transfer])).slot;
}

const refusal = (transactionMessage: string) =>
  new SendTransactionError({ action: 'simulate', signature: '', transactionMessage });
const messageOf = (sent: Promise<number>) =>
  sent.then(
    () => 'it landed',
    (error: Error) => error.message,
  );

describe('sending a transaction of migration or deployment', () => {
  const landed = { slot: SLOT, err: null, confirmationStatus: 'finalized' };

  it('reports that it landed when it did so in its last block', async () => {
    expect(await send(nodeWith(landed))).to.equal(SLOT);
  });

  it('reports that it landed when the send had no answer or an earlier one had arrived', async () => {
    expect(await send(nodeWith(landed, new TypeError('fetch failed')))).to.equal(SLOT);
    const processed = refusal('Transaction simulation failed: This transaction has already been processed');
    expect(await send(nodeWith(landed, processed))).to.equal(SLOT);
  });

  it('reports that it did not land, and why, after it has expired', async () => {
    expect(await messageOf(send(nodeWith(null, new TypeError('fetch failed'))))).to.match(
      /^transaction \w+ did not land before its blockhash expired; sending it ended with: fetch failed$/,
    );
    const failed = { ...landed, err: { InstructionError: [0, 'Custom'] } };
    expect(await messageOf(send(nodeWith(failed)))).to.match(/^transaction \w+ failed: .*InstructionError/);
  });

  it('reports a refusal of the node immediately', async () => {
    expect(await messageOf(send(nodeWith(null, refusal('Blockhash not found'))))).to.include('Blockhash not found');
  });
});
