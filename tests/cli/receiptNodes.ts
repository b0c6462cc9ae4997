/** A receipt verified at nodes that lie, fail or are of another chain. */
import { expect } from 'chai';
import { LISTING_OFFSETS, RECORD_OFFSETS } from '../../app/sdk/program/accounts.ts';
import { hashResult } from '../../app/sdk/receipt/receipt.ts';
import { CHECKS, type CheckName } from '../../app/sdk/receipt/verify.ts';
import type { Receipt } from '../../app/sdk/wire/receipt.ts';
import { type CallRule, changing } from '../harness/node/rpcProxy.ts';
import { NOBODY, named, of, PURE, type useReceiptStage } from './receiptStage.ts';

/** Declares the tests. `receipt` is valid, and its record still exists. */
export function checksAtUntrustedNodes(stage: ReturnType<typeof useReceiptStage>, receipt: () => Receipt): void {
  describe('a node that lies', () => {
    // biome-ignore lint/suspicious/noExplicitAny: an answer of a node, changed in one place
    type Answer = any;
    const lie = (method: string, about: () => string | null, change: (answer: Answer) => unknown) =>
      changing(method, (result, [asked]) => (asked === (about() ?? asked) ? change(result) : result));
    const bytes = (change: (data: Buffer) => void) => (result: Answer) => {
      const data = Buffer.from(result.value.data[0], 'base64');
      change(data);
      result.value.data[0] = data.toString('base64');
      return result;
    };
    const record = () => receipt().record;
    const listing = () => receipt().agent_id;
    const settle = () => receipt().transactions.settle;
    const recordIs = (value: (shown: Answer) => Answer) =>
      lie('getAccountInfo', record, (r) => ({ ...r, value: value(r.value) }));
    const recordHas = (change: (data: Buffer) => void) => lie('getAccountInfo', record, bytes(change));
    const listingHas = (offset: number) =>
      lie(
        'getAccountInfo',
        listing,
        bytes((data) => data.fill(1, offset, offset + 32)),
      );
    const settleIs = (change: (shown: Answer) => Answer) => lie('getTransaction', settle, change);
    const settledBy = (change: (instruction: Answer) => void) =>
      settleIs((r) => {
        r.transaction.message.instructions.forEach(change);
        return r;
      });
    const otherChain = lie(
      'getGenesisHash',
      () => null,
      () => 'x',
    );
    const failedSettle = settleIs((r) => ({ ...r, meta: { ...r.meta, err: { Custom: 1 } } }));
    const otherSignature = settleIs((r) => ({ ...r, transaction: { ...r.transaction, signatures: ['x'] } }));
    const notHis: CheckName[] = ['program', 'record'];
    // Another price, hash or time differs from the receipt as in tests/clients/python.test.ts.
    // What the transfers of a settle must be, and what a node may leave out, is in tests/sdk/paid.test.ts.
    const LIES: [what: string, rule: CallRule, failed: CheckName[], unknown: CheckName[]][] = [
      ['the chain', otherChain, ['genesis_hash'], []],
      ['the owner of the record', recordIs((shown) => ({ ...shown, owner: NOBODY })), [], notHis],
      ['that there is a record', recordIs(() => null), [], notHis],
      ['what the record is', recordHas((data) => data.fill(0, 0, 8)), ['record'], []],
      ['a record that ends early', recordIs((shown) => ({ ...shown, data: ['', 'base64'] })), ['record'], []],
      ['the status', recordHas((data) => data.writeUInt8(0, RECORD_OFFSETS.status)), ['record'], []],
      ['the listing’s key, which may have changed', listingHas(LISTING_OFFSETS.signingKey), [], []],
      ['the listing’s creator', listingHas(LISTING_OFFSETS.creator), ['settlement'], []],
      ['that there is a listing', lie('getAccountInfo', listing, (r) => ({ ...r, value: null })), [], []],
      ['that the settle failed', failedSettle, ['settlement'], []],
      ['that there is no settle', settleIs(() => null), [], ['settlement']],
      ['another signature', otherSignature, ['settlement'], []],
      ['an instruction that is none', settledBy((instruction) => (instruction.data = '0')), ['settlement'], []],
      ['accounts in another place', settledBy((instruction) => instruction.accounts.reverse()), ['settlement'], []],
    ];
    for (const [what, rule, failed, unknown] of LIES) {
      it(what, async () => {
        const checks = await stage.verifyBy(rule, receipt());
        expect({ failed: named(checks, 'failed'), unknown: named(checks, 'not_checked') }).to.deep.equal({
          failed,
          unknown,
        });
        expect(named(checks, 'passed')).to.include.members(PURE);
      });
    }

    it('cannot make a forged result pass, because hash and signature are checked locally', async () => {
      const result_hash = hashResult('forged');
      const rule = lie(
        'getAccountInfo',
        record,
        bytes((data) => Buffer.from(result_hash.slice(7), 'hex').copy(data, RECORD_OFFSETS.resultHash)),
      );
      const checks = await stage.verifyBy(rule, { ...receipt(), result: 'forged', result_hash });
      expect(of(checks, 'record').state).to.equal('passed');
      expect(named(checks, 'failed')).to.deep.equal(['signature', 'execution_signature', 'settlement']);
    });
  });

  describe('a receipt is not rejected when the node', () => {
    const asked = CHECKS.slice(CHECKS.indexOf('genesis_hash'));
    const FAULTS: [what: string, rule: CallRule, reason: RegExp][] = [
      ['cuts the connection', () => 'cut', /^No Solana node answers at /],
      ['is busy (429)', () => ({ status: 429 }), /^The node answered \w+ with status 429\.$/],
      [
        'refuses every method',
        () => ({ json: { error: { code: -32_601, message: 'no such method' } } }),
        /^The node refused \w+: no such method\.$/,
      ],
      ['does not return JSON', () => ({ text: '<html>' }), /^The node's answer to \w+ is not JSON\.$/],
      ['returns a number', () => ({ json: { result: 7 } }), /^The node returned a malformed \w+ response\.$/],
      ['returns null', () => ({ text: 'null' }), /^The node returned a malformed \w+ response\.$/],
    ];
    for (const [what, rule, reason] of FAULTS) {
      it(what, async () => {
        const checks = await stage.verifyBy(rule, receipt());
        expect(named(checks, 'passed')).to.deep.equal(PURE);
        expect(named(checks, 'not_checked')).to.deep.equal(asked);
        for (const name of asked) expect(of(checks, name).reason, name).to.match(reason);
      });
    }

    it('is down', async () => {
      const { code, stdout } = await stage.run(stage.write('valid.json', receipt()), NOBODY);
      expect(code).to.equal(0);
      expect(JSON.parse(stdout)).to.include({ passed: PURE.length, failed: 0, not_checked: asked.length });
      const notUrl = await stage.run(stage.write('valid.json', receipt()), 'not a url');
      expect(JSON.parse(notUrl.stdout)).to.include({ failed: 0, not_checked: asked.length });
    });
  });
}
