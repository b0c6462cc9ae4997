/** Transactions of version 1 as the relay writes them, read back by web3.js. */
import { Keypair, SystemProgram, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import { expect } from 'chai';
import { encodeVersionOne, fitsVersionOne, instructionOf } from '../../../app/relay/chain/versionOne.ts';

describe('relay/versionOne', () => {
  const payer = Keypair.generate().publicKey;
  const receivers = Array.from({ length: 70 }, () => Keypair.generate().publicKey);
  const transfers = receivers.map((toPubkey, lamports) =>
    SystemProgram.transfer({ fromPubkey: payer, toPubkey, lamports }),
  );
  const write = (instructions: TransactionInstruction[], priority: bigint) => {
    const recentBlockhash = Keypair.generate().publicKey.toBase58();
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash, instructions }).compileToV0Message();
    return Buffer.concat([encodeVersionOne(message, { units: 123_456, priority }), Buffer.alloc(64, 7)]);
  };

  it('holds 64 addresses and 4,096 bytes', () => {
    expect(fitsVersionOne(transfers.slice(0, 62), payer)).to.equal(true);
    expect(fitsVersionOne(transfers.slice(0, 63), payer)).to.equal(false);
    const long = (bytes: number) =>
      new TransactionInstruction({ programId: SystemProgram.programId, keys: [], data: Buffer.alloc(bytes) });
    expect(write([long(3_906)], 1n)).to.have.length(4_096);
    expect(fitsVersionOne([long(3_906)], payer)).to.equal(true);
    expect(fitsVersionOne([long(3_907)], payer)).to.equal(false);
  });

  it('finds the instruction of an account that only one names', () => {
    const bytes = write(transfers.slice(0, 3), 0n);
    expect(instructionOf(bytes, receivers[1]!)).to.equal(1);
    expect([instructionOf(bytes, payer), instructionOf(bytes, receivers[9]!)]).to.deep.equal([null, null]);
  });
});
