/** Transactions of version 1 as the relay writes them, read back by web3.js. */
import {
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { expect } from 'chai';
import { feeOf } from '../../../app/relay/chain/networkFee.ts';
import {
  encodeVersionOne,
  fitsVersionOne,
  instructionOf,
  withoutSignatures,
} from '../../../app/relay/chain/versionOne.ts';

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

  it('writes what web3.js reads, with the whole priority fee and both limits', () => {
    const { message, signatures } = VersionedTransaction.deserialize(write(transfers.slice(0, 3), 777n));
    if (message.version !== 1) throw new Error('another version');
    expect(message.transactionConfig).to.deep.include({ priorityFee: 777, computeUnitLimit: 123_456 });
    expect(message.staticAccountKeys[0]!.equals(payer)).to.equal(true);
    expect(message.compiledInstructions).to.have.length(3);
    expect(Buffer.from(signatures[0]!)).to.deep.equal(Buffer.alloc(64, 7));
  });

  it('costs its signature and its priority', () => {
    expect(feeOf(write(transfers.slice(0, 3), 777n))).to.deep.equal({ lamports: 5_777n, payer: payer.toBase58() });
    expect(feeOf(write(transfers.slice(0, 3), 0n)).lamports).to.equal(5_000n);
  });

  it('leaves no signature in bytes that are simulated, and changes nothing else', () => {
    const signer = Keypair.generate();
    const blockhash = Keypair.generate().publicKey.toBase58();
    const message = new TransactionMessage({
      payerKey: signer.publicKey,
      recentBlockhash: blockhash,
      instructions: [SystemProgram.transfer({ fromPubkey: signer.publicKey, toPubkey: payer, lamports: 1 })],
    }).compileToV0Message();
    const zero = new VersionedTransaction(message);
    const signed = new VersionedTransaction(message);
    signed.sign([signer]);
    for (const bytes of [signed.serialize(), write(transfers.slice(0, 3), 777n)]) {
      const { signatures, message: left } = VersionedTransaction.deserialize(withoutSignatures(bytes));
      expect(signatures.map((one) => Buffer.from(one))).to.deep.equal([Buffer.alloc(64)]);
      expect(left).to.deep.equal(VersionedTransaction.deserialize(bytes).message);
    }
    expect(withoutSignatures(signed.serialize())).to.deep.equal(Buffer.from(zero.serialize()));
  });

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
