/**
 * The SDK's Borsh compared with Anchor's coder, for all accounts, instructions and events of the IDL, and its refusals.
 */
import { randomBytes } from 'node:crypto';
import { createApproveInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { ByteReader, bytesOf, i64, listOf, optionOf, text, u8, u16, u32, u64 } from '../../app/sdk/program/borsh.ts';
import { decodeEvent } from '../../app/sdk/program/events.ts';
import { encodeInstruction } from '../../app/sdk/program/idlCodec.ts';
import { toCamel } from '../../app/sdk/program/idlValues.ts';
import {
  type Accounts,
  approveSpender,
  decodeAccount,
  decodeInstruction,
  findSpender,
  findTokenAccount,
  idl,
  LISTING_OFFSETS,
  RECORD_OFFSETS,
} from '../../app/sdk/program/program.ts';
import { coder, fromBorsh, toBorsh } from '../harness/vm/anchorCoder.ts';
import { random, randomDefined, randomEvent } from './random.ts';

const ROUNDS = 20;

describe('sdk/borsh', () => {
  for (const { name } of idl.accounts) {
    it(`reads a ${name} as Anchor writes it, and refuses it cut short`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const [value, anchorValue] = randomDefined(name);
        const bytes = await coder.accounts.encode(name, anchorValue);
        expect(decodeAccount(name as keyof Accounts, bytes)).to.deep.equal(value);
        expect(decodeAccount(name as keyof Accounts, Buffer.concat([bytes, Buffer.alloc(9)]))).to.deep.equal(value);
        expect(() => decodeAccount(name as keyof Accounts, bytes.subarray(0, -1))).to.throw(RangeError, 'too early');
      }
    });
  }

  for (const [name, offsets] of Object.entries({ ExecutionRecord: RECORD_OFFSETS, AgentListing: LISTING_OFFSETS })) {
    it(`has the offsets of a ${name} for filters, where Anchor writes each field`, async () => {
      const [, one] = randomDefined(name) as [unknown, Record<string, unknown>];
      const [, other] = randomDefined(name) as [unknown, Record<string, unknown>];
      const bytes = await coder.accounts.encode(name, one);
      const places = Object.entries(offsets);
      // After a text the offsets differ from account to account.
      const fixed = places.findIndex(([field]) => field === 'metadataUri');
      for (const [at, [field, offset]] of places.slice(0, fixed < 0 ? places.length : fixed).entries()) {
        const key = Object.keys(one).find((snake) => toCamel(snake) === field)!;
        const changed = await coder.accounts.encode(name, { ...one, [key]: other[key] });
        const end = places[at + 1]?.[1] ?? bytes.length;
        const expected = Buffer.concat([bytes.subarray(0, offset), changed.subarray(offset, end), bytes.subarray(end)]);
        expect(changed, field).to.deep.equal(expected);
      }
    });
  }

  it('keeps a byte order mark at the begin of a text, as the chain does', () => {
    const marked = '\ufeffhttps://a.example';
    expect(text.read(new ByteReader(text.write(marked)))).to.equal(marked);
  });

  for (const { name } of idl.events) {
    it(`reads the event ${name} as Anchor writes it, and refuses one byte more or less`, () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { data, bytes } = randomEvent(name);
        expect(decodeEvent(bytes)).to.deep.equal({ name, data });
        expect(toBorsh(data), 'the same as Anchor reads it').to.deep.equal(
          toBorsh(fromBorsh(coder.events.decode(bytes.toString('base64'))!.data)),
        );
        expect(() => decodeEvent(Buffer.concat([bytes, Buffer.from([0])]))).to.throw(RangeError, 'too many');
        expect(() => decodeEvent(bytes.subarray(0, -1))).to.throw(RangeError, 'too early');
      }
    });
  }

  for (const { name, args } of idl.instructions) {
    it(`writes the data of ${name} as Anchor does, and reads them back`, () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const [value, anchorValue] = args[0] ? random(args[0].type) : [{}, {}];
        const data = encodeInstruction(name, value as object);
        expect(Buffer.from(data)).to.deep.equal(coder.instruction.encode(name, args[0] ? { args: anchorValue } : {}));
        expect(decodeInstruction(data)).to.deep.equal({ name, args: value });
      }
    });
  }

  it('rejects: values out of range, instead of writing others', () => {
    const wrong: (() => unknown)[] = [
      () => u8.write(256),
      () => u16.write(-1),
      () => u32.write(2 ** 32),
      () => u32.write(1.5),
      () => u64.write(2n ** 64n),
      () => u64.write(-1n),
      () => u64.write(1 as unknown as bigint),
      () => i64.write(2n ** 63n),
      () => i64.write(-(2n ** 63n) - 1n),
      () => bytesOf(16).write(new Uint8Array(15)),
      () => bytesOf(2).write([1, 2] as unknown as Uint8Array),
      () => text.write(1 as unknown as string),
      () => listOf(u8).write('12' as unknown as number[]),
      () => listOf(u8).read(new ByteReader(Uint8Array.of(255, 255, 255, 255, 1))),
      () => encodeInstruction('set_listing_status', { status: 'sleeping' }),
      () => encodeInstruction('set_listing_status', {}),
      () => encodeInstruction('no_instruction', {}),
      () => optionOf(u8).read(new ByteReader(Uint8Array.of(2, 1))),
    ];
    for (const write of wrong) expect(write, String(write)).to.throw(RangeError);
    expect(decodeInstruction(new Uint8Array(8))).to.equal(null);
    expect(decodeInstruction(new Uint8Array(0))).to.equal(null);
  });

  it("builds the token program's Approve, and finds token accounts, as @solana/spl-token does", () => {
    for (const amount of [0n, 1n, 2n ** 64n - 1n]) {
      const [wallet, mint] = [new PublicKey(randomBytes(32)), new PublicKey(randomBytes(32))];
      const account = getAssociatedTokenAddressSync(mint, wallet, true);
      expect(findTokenAccount(wallet, mint).toBase58()).to.equal(account.toBase58());
      const expected = createApproveInstruction(account, findSpender(wallet), wallet, amount);
      const made = approveSpender({ wallet, usdcMint: mint, amount });
      expect([made.data, made.programId.toBase58()]).to.deep.equal([expected.data, expected.programId.toBase58()]);
      expect(JSON.stringify(made.keys)).to.equal(JSON.stringify(expected.keys));
    }
  });
});
