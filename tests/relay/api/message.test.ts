/** The relay's own encoding of messages, against web3.js's. */
import { Keypair, PublicKey, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import { expect } from 'chai';
import { encodeMessage } from '../../../app/relay/message.ts';

const payer = Keypair.generate().publicKey;
const recentBlockhash = Keypair.generate().publicKey.toBase58();

function instruction(accounts: number, bytes: number): TransactionInstruction {
  const keys = Array.from({ length: accounts }, (_, at) => ({
    pubkey: at % 5 === 0 ? payer : Keypair.generate().publicKey,
    isSigner: at % 5 === 0,
    isWritable: at % 2 === 0,
  }));
  return new TransactionInstruction({ programId: PublicKey.unique(), keys, data: Buffer.alloc(bytes, bytes) });
}

describe('encodeMessage', () => {
  for (const [name, instructions] of Object.entries({
    'no instruction': [],
    'an instruction without accounts and data': [instruction(0, 0)],
    'data whose length takes two bytes': [instruction(3, 127), instruction(2, 128), instruction(1, 300)],
    'many accounts of every kind': [instruction(12, 9), instruction(11, 40)],
  })) {
    it(`writes what web3.js writes: ${name}`, () => {
      const message = new TransactionMessage({ payerKey: payer, recentBlockhash, instructions });
      const expected = message.compileToLegacyMessage().serialize();
      expect(encodeMessage(payer, recentBlockhash, instructions).toString('hex')).to.equal(expected.toString('hex'));
    });
  }
});
