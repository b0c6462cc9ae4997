/** Reading a stranger's transaction must not hold up the indexer, however much data its instructions have. */
import { Keypair, type PublicKey, TransactionMessage, type VersionedTransactionResponse } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { innerDataOf } from '../../app/sdk/program/transaction.ts';
import { readInstructions } from '../../indexer/chain/invocations.ts';

/** The most that one program can send to another. */
const LONGEST = 10_240;
const CALLS = 60;

/** A transaction of a program that makes these calls, and names the marketplace. */
function calling(called: 'itself' | 'the marketplace', dataOf: () => string): VersionedTransactionResponse {
  const [payer, stranger] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const keys = [{ pubkey: PROGRAM_ID, isSigner: false, isWritable: false }];
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions: [{ programId: stranger, keys, data: Buffer.alloc(0) }],
  }).compileToV0Message();
  const indexOf = (key: PublicKey) => message.staticAccountKeys.findIndex((named) => named.equals(key));
  const programIdIndex = indexOf(called === 'itself' ? stranger : PROGRAM_ID);
  const call = {
    programIdIndex,
    accounts: [0],
    get data() {
      return dataOf();
    },
  };
  const innerInstructions = [{ index: 0, instructions: Array.from({ length: CALLS }, () => call) }];
  return {
    slot: 1,
    transaction: { message, signatures: [] },
    meta: { innerInstructions },
  } as unknown as VersionedTransactionResponse;
}

describe('indexer, instructions', () => {
  it('never decodes the data of other programs', () => {
    let reads = 0;
    const dataOf = () => {
      reads += 1;
      return '1';
    };
    expect(readInstructions(calling('itself', dataOf), PROGRAM_ID)).to.deep.equal([]);
    expect(reads).to.equal(0);
    expect(readInstructions(calling('the marketplace', dataOf), PROGRAM_ID)).to.have.length(CALLS);
    expect(reads).to.equal(CALLS);
  });

  it('decodes any data of the program, with zeros at its begin or without', () => {
    for (const bytes of [
      [],
      [0],
      [0, 0, 0],
      [1],
      [0, 1],
      [255],
      [0, 0, 255, 0],
      Array(9).fill(58),
      Array(99).fill(7),
    ]) {
      const text = bs58.encode(Uint8Array.from(bytes));
      const [first] = readInstructions(
        calling('the marketplace', () => text),
        PROGRAM_ID,
      );
      expect([...first!.data], text).to.deep.equal(bytes);
    }
  });

  it('decodes the longest data many times in the time that bs58 takes for one', () => {
    const data = Uint8Array.from({ length: LONGEST }, (_, at) => (at * 31) % 256);
    const text = bs58.encode(data);
    const timed = <T>(action: () => T) => {
      const begun = performance.now();
      return { value: action(), ms: performance.now() - begun };
    };
    const transaction = calling('the marketplace', () => text);
    const [all, one] = [timed(() => readInstructions(transaction, PROGRAM_ID)), timed(() => bs58.decode(text))];
    expect(Buffer.from(all.value.at(-1)!.data).equals(Buffer.from(one.value))).to.equal(true);
    expect(all.ms / CALLS).to.be.lessThan(one.ms / 10);
    const inner = timed(() => innerDataOf(transaction, PROGRAM_ID));
    expect(inner.value.map((found) => Buffer.from(found).equals(Buffer.from(one.value)))).to.deep.equal(
      Array(CALLS).fill(true),
    );
    expect(inner.ms / CALLS).to.be.lessThan(one.ms / 10);
  });
});
