/** Verification of a receipt without a network: each change is found by the checks concerned, and by no other. */
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import idl from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { CHECKS, type Check, type CheckName, verifyExecution, verifyReceipt } from '../../app/sdk/receipt/verify.ts';
import { Receipt } from '../../app/sdk/wire/receipt.ts';

const pair = nacl.sign.keyPair.fromSeed(Buffer.alloc(32, 7));
const other = nacl.sign.keyPair.fromSeed(Buffer.alloc(32, 8));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const signed = (message: string, by = pair): string =>
  `ed25519:${bs58.encode(nacl.sign.detached(Buffer.from(message), by.secretKey))}`;
const address = (byte: number): string => bs58.encode(Buffer.alloc(32, byte));

const EXECUTION_ID = 'c1dc756c-ff4d-8d5c-91a6-11ec2f4e3a8b';
const REQUEST_HASH = sha256('{"parameters":{"a":[1,"ü"],"b":null},"task":"sum"}');
const RESULT = '{"sum":1}\n';
const RESULT_HASH = `sha256:${sha256(RESULT)}`;
const TRANSACTION = bs58.encode(Buffer.alloc(64, 3));
const recordOf = (id: string): string =>
  PublicKey.findProgramAddressSync(
    [Buffer.from('execution'), Buffer.from(id.replaceAll('-', ''), 'hex')],
    new PublicKey(idl.address),
  )[0].toBase58();

/** A receipt as the service returns it, made with tweetnacl, node:crypto and web3.js. */
const RECEIPT: Receipt = {
  version: 1,
  program_id: idl.address,
  genesis_hash: address(1),
  execution_id: EXECUTION_ID,
  record: recordOf(EXECUTION_ID),
  agent_id: address(2),
  caller: address(3),
  signing_key: bs58.encode(pair.publicKey),
  request_hash: REQUEST_HASH,
  task: 'sum',
  parameters: { b: null, a: [1, 'ü'] },
  result: RESULT,
  result_hash: RESULT_HASH,
  signature: signed(RESULT_HASH),
  execution_signature: signed(['agent-marketplace:v1', idl.address, EXECUTION_ID, REQUEST_HASH, RESULT_HASH].join(':')),
  price_usdc: 0.25,
  fee_bps: 100,
  opened_at: '2026-11-21T09:24:10.000Z',
  settled_at: '2026-11-21T09:24:11.000Z',
  transactions: { open: TRANSACTION, settle: TRANSACTION },
  archive: null,
};

const OFFLINE = { rpcUrl: null, fetch: () => expect.fail('nobody is asked') };
const PURE: CheckName[] = ['shape', 'result_hash', 'signature', 'request_hash', 'execution_signature'];
const named = (checks: Check[], state: Check['state']): CheckName[] =>
  checks.flatMap((check) => (check.state === state ? [check.name] : []));
const verify = (receipt: unknown): Promise<Check[]> => verifyReceipt(receipt, OFFLINE);

describe('sdk/verify', () => {
  it('passes every check without a network, and reports the others as not asked', async () => {
    const told: Check[] = [];
    const checks = await verifyReceipt(RECEIPT, { ...OFFLINE, onCheck: (check) => told.push(check) });
    expect(checks.map(({ name }) => name)).to.deep.equal([...CHECKS]);
    expect(told).to.deep.equal(checks);
    expect(named(checks, 'passed')).to.deep.equal(PURE);
    expect(named(checks, 'failed')).to.deep.equal([]);
    for (const { state, reason } of checks) expect(reason === null, state).to.equal(state === 'passed');
    for (const { name, reason } of checks.slice(PURE.length)) {
      expect(reason, name).to.equal('No node was given, so the chain was not read.');
    }
    expect(checks[1]).to.deep.equal({
      name: 'result_hash',
      state: 'passed',
      compared: [{ what: 'result_hash', got: RESULT_HASH, expected: RESULT_HASH }],
      source: 'receipt',
      reason: null,
    });
  });

  const OTHER_ID = 'c1dc756c-ff4d-8d5c-91a6-11ec2f4e3a8c';
  const OTHER_HASH = `sha256:${sha256('other')}`;
  const flipped = Buffer.from(bs58.decode(RECEIPT.signature.slice('ed25519:'.length)));
  flipped[40]! ^= 1;
  const CHANGES: [what: string, change: Partial<Receipt>, failed: CheckName[]][] = [
    ['program_id', { program_id: address(9) }, ['execution_signature', 'program']],
    ['execution_id', { execution_id: OTHER_ID }, ['execution_signature', 'program']],
    [
      'execution_id with the record that belongs to it',
      { execution_id: OTHER_ID, record: recordOf(OTHER_ID) },
      ['execution_signature'],
    ],
    ['record', { record: address(9) }, ['program']],
    ['signing_key', { signing_key: bs58.encode(other.publicKey) }, ['signature', 'execution_signature']],
    [
      'signing_key of 31 bytes',
      { signing_key: bs58.encode(Buffer.alloc(31, 200)) },
      ['signature', 'execution_signature'],
    ],
    ['signing_key of small order', { signing_key: address(0) }, ['signature', 'execution_signature']],
    ['request_hash', { request_hash: sha256('other') }, ['request_hash', 'execution_signature']],
    ['task', { task: 'sums' }, ['request_hash']],
    ['parameters', { parameters: { a: [1, 'u'], b: null } }, ['request_hash']],
    ['result', { result: `${RESULT} ` }, ['result_hash']],
    ['result_hash', { result_hash: OTHER_HASH }, ['result_hash', 'signature', 'execution_signature']],
    ['result and its hash', { result: 'other', result_hash: OTHER_HASH }, ['signature', 'execution_signature']],
    ['signature', { signature: `ed25519:${bs58.encode(flipped)}` }, ['signature']],
    ['signature of another key', { signature: signed(RESULT_HASH, other) }, ['signature']],
    ['execution_signature', { execution_signature: RECEIPT.signature }, ['execution_signature']],
  ];
  for (const [what, change, failed] of CHANGES) {
    it(`fails for another ${what}`, async () => {
      const checks = await verify({ ...RECEIPT, ...change });
      expect(named(checks, 'failed')).to.deep.equal(failed);
      expect(named(checks, 'passed')).to.deep.equal(PURE.filter((name) => !failed.includes(name)));
    });
  }

  it('rejects a lone surrogate as a result, because it would hash as another text', async () => {
    const result_hash = `sha256:${sha256('\ufffd')}`;
    const checks = await verify({ ...RECEIPT, result: '\ud800', result_hash, signature: signed(result_hash) });
    expect(named(checks, 'failed')).to.deep.equal(['result_hash', 'execution_signature']);
  });

  it('does not check fields that the receipt omits', async () => {
    const { task, parameters, ...without } = RECEIPT;
    const checks = await verify({ ...without, execution_signature: null });
    expect(named(checks, 'passed')).to.deep.equal(['shape', 'result_hash', 'signature']);
    expect(checks[3]?.reason).to.equal('The receipt does not contain the request.');
    expect(checks[4]?.reason).to.equal('The creator gave no signature over the execution; it is optional.');
    expect(named(await verify({ ...without, parameters }), 'failed')).to.deep.equal(['request_hash']);
    const plain = sha256('{"parameters":{},"task":"sum"}');
    const bare = await verify({ ...without, task, request_hash: plain, execution_signature: null });
    expect(named(bare, 'passed')).to.include('request_hash');
  });

  it('names each malformed field, which the schema of the service refuses too, and checks nothing else', async () => {
    const malformed: [unknown, string[]][] = [
      [null, ['receipt']],
      ['{}', ['receipt']],
      [{ ...RECEIPT, version: 2 }, ['version']],
      [{ ...RECEIPT, paid: true }, ['receipt']],
      [{ ...RECEIPT, execution_id: EXECUTION_ID.toUpperCase() }, ['execution_id']],
      [{ ...RECEIPT, price_usdc: 0.1234567, fee_bps: 10_001 }, ['price_usdc', 'fee_bps']],
      [{ ...RECEIPT, price_usdc: Number.POSITIVE_INFINITY }, ['price_usdc']],
      [{ ...RECEIPT, signature: RECEIPT.signature.slice(8) }, ['signature']],
      [{ ...RECEIPT, record: `${RECEIPT.record}0` }, ['record']],
      [{ ...RECEIPT, settled_at: 'yesterday' }, ['settled_at']],
      [{ ...RECEIPT, settled_at: '2026-02-30T09:24:11.000Z' }, ['settled_at']],
      [{ ...RECEIPT, opened_at: '2026-11-21T09:24:10+01:00', fee_bps: 1.5 }, ['fee_bps', 'opened_at']],
      [{ ...RECEIPT, parameters: [] }, ['parameters']],
      [{ ...RECEIPT, price_usdc: -1 }, ['price_usdc']],
      [{ ...RECEIPT, transactions: { open: TRANSACTION } }, ['transactions.settle']],
      [
        { ...RECEIPT, archive: {} },
        'archive archive_index tree leaf_index record fields leaf proof root transaction'
          .split(' ')
          .map((name) => `archive.${name}`),
      ],
    ];
    for (const [receipt, fields] of malformed) {
      const [shape, ...rest] = await verify(receipt);
      expect(shape).to.include({ name: 'shape', state: 'failed' });
      expect(shape?.compared.map(({ what }) => what)).to.deep.equal(fields);
      expect(new Set(rest.map(({ state }) => state))).to.deep.equal(new Set(['not_checked']));
      expect(Receipt.safeParse(receipt).success, fields.join()).to.equal(false);
    }
    expect(Receipt.safeParse(RECEIPT).success).to.equal(true);
    const { task, ...short } = { ...RECEIPT, caller: undefined, fee_bps: 'ten', price_usdc: 0.1234567, more: 1 };
    const [shape] = await verify(short);
    expect(shape?.compared.map(({ what, expected }) => `${what}: ${expected}`)).to.deep.equal([
      'caller: a value',
      'price_usdc: must be an amount of USDC, a number with at most 6 decimal places',
      'fee_bps: of type number',
      'receipt: no other fields',
    ]);
  });

  it('knows nothing of an execution by its id without a node, and refuses an invalid id', async () => {
    const checks = await verifyExecution(EXECUTION_ID, OFFLINE);
    expect(checks.map(({ name }) => name)).to.deep.equal([...CHECKS]);
    expect(named(checks, 'not_checked')).to.deep.equal([...CHECKS]);
    const refusal = await verifyExecution('x', OFFLINE).catch((error: Error) => error);
    expect(refusal).to.be.instanceOf(RangeError);
  });
});
