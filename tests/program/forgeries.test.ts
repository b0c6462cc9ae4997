/**
 * Every known way to make a signature check that passes the runtime but is not the creator's word on this result. Always on
 * LiteSVM, which verifies Ed25519 instructions. Each case first settles an unaltered twin, then tries the forgery.
 */
import { Ed25519Program, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import nacl from 'tweetnacl';
import * as program from '../../app/sdk/program.ts';
import { relayed } from '../harness/caller.ts';
import { namedKeypair } from '../harness/vm.ts';
import { type Execution, RESULT_HASH, resultMessage, signed, type World, world } from '../harness/world.ts';

const HERE = 0xffff;
const [SIGNATURE_AT, KEY_AT, MESSAGE_AT] = [48, 16, 112];
const MESSAGE = resultMessage(RESULT_HASH);
const OLD_MESSAGE = resultMessage(new Uint8Array(32).fill(0x11));
/** Order of the group: S + L is a second valid S wherever S < L is not demanded. */
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

interface Parts {
  count?: number;
  padding?: number;
  signatureAt?: number;
  signatureIn?: number;
  keyAt?: number;
  keyIn?: number;
  messageAt?: number;
  messageSize?: number;
  messageIn?: number;
  /** What follows the header: by default key, signature, message. */
  body: Uint8Array[];
}

/** An Ed25519 instruction with any header over any bytes. */
function ed25519(parts: Parts): TransactionInstruction {
  const {
    count = 1,
    padding = 0,
    signatureAt = SIGNATURE_AT,
    signatureIn = HERE,
    keyAt = KEY_AT,
    keyIn = HERE,
  } = parts;
  const { messageAt = MESSAGE_AT, messageSize = MESSAGE.length, messageIn = HERE } = parts;
  const fields = [signatureAt, signatureIn, keyAt, keyIn, messageAt, messageSize, messageIn];
  const header = Buffer.from(Uint16Array.from(fields).buffer);
  const data = Buffer.concat([Buffer.of(count, padding), header, ...parts.body]);
  return new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data });
}

describe('forged signatures', () => {
  let w: World;
  let execution: Execution;
  const attacker = namedKeypair('attacker');
  const creatorKey = namedKeypair('signing key');
  const key = creatorKey.publicKey.toBytes();
  const sign = (message: Uint8Array, by = creatorKey) => nacl.sign.detached(message, by.secretKey);

  beforeEach(async () => {
    w = await world({ kind: 'litesvm' });
    await w.must(w.settleInstructions(await w.openWithGrant()), [w.relay]);
    execution = await w.openWithGrant();
    w.watch('escrow', execution.escrow);
    w.watch('record', execution.record);
  });

  /** The forgery is refused, and afterwards the same execution still settles with the honest signature. */
  const refuses = async (instructions: TransactionInstruction[], error: string) => {
    await w.rejects(instructions, [w.relay], error);
    await w.must(w.settleInstructions(execution), [w.relay]);
  };
  const settle = (change: Partial<program.SettleExecutionInput> = {}) =>
    program.settleExecution(w.settleInput(execution, change));
  const anything = () =>
    SystemProgram.transfer({ fromPubkey: w.relay.publicKey, toPubkey: w.relay.publicKey, lamports: 1 });

  it('accepts the layout that is built by hand here, so that each change below is the only one', async () => {
    await w.must([ed25519({ body: [key, sign(MESSAGE), MESSAGE] }), settle()], [w.relay]);
  });

  it('no instruction before', () => refuses([settle()], 'SignatureMissing'));

  it('the signature after instead of before', () =>
    refuses([settle(), signed(creatorKey, MESSAGE)], 'SignatureMissing'));

  it('the signature after, something else before', () =>
    refuses([anything(), settle(), signed(creatorKey, MESSAGE)], 'SignatureWrongProgram'));

  it('the signature two instructions before', () =>
    refuses([signed(creatorKey, MESSAGE), anything(), settle()], 'SignatureWrongProgram'));

  it('the very bytes of a signature check, sent to another program', async () => {
    // The test caller takes any remaining accounts, and with zero repetitions does nothing with them.
    const target = new TransactionInstruction({ programId: SystemProgram.programId, keys: [], data: Buffer.alloc(0) });
    const carrier = relayed(target, 0);
    carrier.data = Buffer.concat([carrier.data, signed(creatorKey, MESSAGE).data]);
    await refuses([carrier, settle()], 'SignatureWrongProgram');
  });

  it('zero signatures', () => {
    const empty = new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data: Buffer.of(0, 0) });
    return refuses([empty, settle()], 'SignatureCount');
  });

  it("two signatures, the second the creator's own", () => {
    const base = 2 + 2 * 14;
    const second = base + 32 + 64 + MESSAGE.length;
    const fields = [base, second].flatMap((at) => [at + 32, HERE, at, HERE, at + 96, MESSAGE.length, HERE]);
    const bodies = [attacker, creatorKey].flatMap((by) => [by.publicKey.toBytes(), sign(MESSAGE, by), MESSAGE]);
    const data = Buffer.concat([Buffer.of(2, 0), Buffer.from(Uint16Array.from(fields).buffer), ...bodies]);
    const double = new TransactionInstruction({ programId: Ed25519Program.programId, keys: [], data });
    return refuses([double, settle()], 'SignatureCount');
  });

  it('padding that is not zero', () =>
    refuses([ed25519({ padding: 1, body: [key, sign(MESSAGE), MESSAGE] }), settle()], 'SignaturePadding'));

  it('a byte more', () =>
    refuses([ed25519({ body: [key, sign(MESSAGE), MESSAGE, Buffer.of(0)] }), settle()], 'SignatureLength'));

  it('data cut short, so that the message runs over the end', () =>
    refuses(
      [ed25519({ body: [key, sign(MESSAGE), MESSAGE.subarray(0, -1)] }), settle()],
      'ed25519:InvalidDataOffsets',
    ));

  it('a shorter message, signed by the creator', () => {
    const short = MESSAGE.subarray(0, -1);
    const cut = ed25519({ messageSize: short.length, body: [key, sign(short), short] });
    return refuses([cut, settle()], 'SignatureLength');
  });

  it('a signed part of the message in an instruction of the right length', () => {
    const part = MESSAGE.subarray(0, -1);
    const partly = ed25519({ messageSize: part.length, body: [key, sign(part), MESSAGE] });
    return refuses([partly, settle()], 'SignatureLength');
  });

  for (const [field, error] of [
    ['signatureIn', 'SignatureForeignSignature'],
    ['keyIn', 'SignatureForeignKey'],
    ['messageIn', 'SignatureForeignMessage'],
  ] as const) {
    it(`${field} names the instruction itself by its number`, () =>
      refuses([ed25519({ [field]: 0, body: [key, sign(MESSAGE), MESSAGE] }), settle()], error));
  }

  it("a signature that lies in another instruction, beside the creator's key and the message", () => {
    const forged = ed25519({ signatureIn: 0, body: [key, new Uint8Array(64), MESSAGE] });
    return refuses([signed(creatorKey, MESSAGE), forged, settle()], 'SignatureForeignSignature');
  });

  it("the attacker's key in another instruction, the creator's shown here", () => {
    const forged = ed25519({ keyIn: 0, body: [key, sign(MESSAGE, attacker), MESSAGE] });
    return refuses([signed(attacker, OLD_MESSAGE), forged, settle()], 'SignatureForeignKey');
  });

  it('an old message in another instruction, the new one shown here', () => {
    const forged = ed25519({ messageIn: 0, body: [key, sign(OLD_MESSAGE), MESSAGE] });
    return refuses([signed(creatorKey, OLD_MESSAGE), forged, settle()], 'SignatureForeignMessage');
  });

  it('the signature at another offset', () => {
    const swapped = ed25519({ signatureAt: 16, keyAt: 80, body: [sign(MESSAGE), key, MESSAGE] });
    return refuses([swapped, settle()], 'SignatureOffset');
  });

  it("the attacker's key at another offset, the creator's shown at the usual one", () => {
    const theirs = attacker.publicKey.toBytes();
    const forged = ed25519({
      keyAt: MESSAGE_AT,
      messageAt: KEY_AT,
      messageSize: 32,
      body: [key, sign(key, attacker), theirs, MESSAGE.subarray(32)],
    });
    return refuses([forged, settle()], 'SignatureKeyOffset');
  });

  it('the message at another offset', () => {
    const rest = MESSAGE.subarray(1);
    const shifted = ed25519({ messageAt: MESSAGE_AT + 1, messageSize: rest.length, body: [key, sign(rest), MESSAGE] });
    return refuses([shifted, settle()], 'SignatureMessageOffset');
  });

  it("another key, another listing's key", async () => {
    await w.rejects([signed(attacker, MESSAGE), settle()], [w.relay], 'SignatureWrongKey');
    const other = namedKeypair('other key');
    const input = w.listInput({ creator: w.otherCreator.publicKey, signingKey: other.publicKey });
    await w.must(w.listInstructions(input, other), [w.otherCreator]);
    await refuses([signed(other, MESSAGE), settle()], 'SignatureWrongKey');
  });

  it("the listing's key of today on an execution that was opened with yesterday's", async () => {
    await w.overwrite('AgentListing', w.listing, { signingKey: attacker.publicKey });
    await refuses([signed(attacker, MESSAGE), settle()], 'SignatureWrongKey');
  });

  it('an honest signature over another result, and over this one written otherwise', async () => {
    await w.rejects([signed(creatorKey, OLD_MESSAGE), settle()], [w.relay], 'SignatureWrongMessage');
    const upper = Buffer.from(`sha256:${'AB'.repeat(32)}`);
    await w.rejects([signed(creatorKey, upper), settle()], [w.relay], 'SignatureWrongMessage');
    await w.rejects([signed(creatorKey, MESSAGE.subarray(7)), settle()], [w.relay], 'SignatureLength');
    await w.rejects([signed(creatorKey, RESULT_HASH), settle()], [w.relay], 'SignatureLength');
    const changed = Uint8Array.from(RESULT_HASH);
    changed[31]! ^= 1;
    await refuses([signed(creatorKey, MESSAGE), settle({ resultHash: changed })], 'SignatureWrongMessage');
  });

  it('the proof of possession instead of a result', () =>
    refuses([signed(creatorKey, program.registerMessage(w.listing)), settle()], 'SignatureLength'));

  for (const [part, at, error] of [
    ['signature', SIGNATURE_AT, 'InvalidSignature'],
    ["signature's S", SIGNATURE_AT + 32, 'InvalidSignature'],
    ['key, which is then no point of the curve', KEY_AT, 'InvalidPublicKey'],
    ['message', MESSAGE_AT, 'InvalidSignature'],
  ] as const) {
    it(`one bit flipped in the ${part}: the runtime itself refuses`, async () => {
      const flipped = signed(creatorKey, MESSAGE);
      flipped.data[at]! ^= 1;
      await refuses([flipped, settle()], `ed25519:${error}`);
    });
  }

  it('the same signature with S + L for S', async () => {
    const signature = Buffer.from(sign(MESSAGE));
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + GROUP_ORDER;
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(signature, 32);
    await refuses([ed25519({ body: [key, signature, MESSAGE] }), settle()], 'ed25519:InvalidSignature');
  });

  it('one signature for two settles in one transaction', async () => {
    const second = await w.openWithGrant();
    const both = [signed(creatorKey, MESSAGE), settle(), program.settleExecution(w.settleInput(second))];
    await refuses(both, 'SignatureWrongProgram');
    await w.must(w.settleInstructions(second), [w.relay]);
  });

  it('a settle called by another program, once and twice on one signature', async () => {
    for (const times of [1, 2]) {
      const wrapped = relayed(settle(), times);
      await w.rejects([signed(creatorKey, MESSAGE), wrapped], [w.relay], 'NotTopLevel');
    }
    await refuses([signed(creatorKey, MESSAGE), relayed(settle(), 1, '')], 'NotTopLevel');
  });
});
