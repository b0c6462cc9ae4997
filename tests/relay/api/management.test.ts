/** /trpc through the SDK's client: the deployment's settings, pending changes, and the protocol itself. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { createClient } from '../../../app/sdk/client/client.ts';
import { createManagement } from '../../../app/sdk/client/management.ts';
import { type ConfigChange, findTreasury, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import type { FoundChange } from '../../../app/sdk/wallet/pending.ts';
import { STANDARD_TAGS } from '../../../app/sdk/wire/metadata.ts';
import { CONFIG } from '../../harness/edge/accounts.ts';
import { EXPLORER_QUERY, GENESIS, useWorld } from '../../harness/edge/api.ts';
import { EPOCH } from '../../harness/edge/rows.ts';
import { refusal, sessionsOf } from './sessions.ts';

describe('/trpc', () => {
  const world = useWorld();
  afterEach(() => {
    world.state.chainAnswers = true;
    world.state.nowMs = EPOCH * 1000;
  });

  const { anonymous, signIn } = sessionsOf(() => world);

  it("returns by config.get the chain's settings that a client needs", async () => {
    expect(await anonymous().call('config.get')).to.deep.equal({
      environment: 'test',
      operator_contact: 'https://help.example/marketplace',
      program_id: PROGRAM_ID.toBase58(),
      usdc_mint: CONFIG.usdcMint.toBase58(),
      genesis_hash: GENESIS,
      admin: CONFIG.admin.toBase58(),
      relay_authorities: [CONFIG.relayAuthorities[0]!.toBase58()],
      treasury: findTreasury().toBase58(),
      rpc_url: 'http://127.0.0.1:8899',
      explorer_query: EXPLORER_QUERY,
      egress_ips: ['203.0.113.7'],
      fee_bps: 100,
      min_price_usdc: 0.01,
      exposure_multiple: 0,
      max_timeout_seconds: 3600,
      dispute_window_seconds: 259_200,
      refund_grace_seconds: 600,
      record_seconds: 3_600,
      longest_span_seconds: 263_400,
      dispute_bond_lamports: 10_000_000,
      collateral_tiers: [
        { max_price_usdc: 1, deposit_usdc: 5 },
        { max_price_usdc: 10, deposit_usdc: 25 },
      ],
      standard_tags: STANDARD_TAGS,
      x402_service_fee_usdc: null,
      is_sponsored: false,
    });
  });

  describe('config.changes', () => {
    const amounts = { feeBps: null, minPrice: null, disputeBondLamports: null, tiers: null, exposureMultiple: null };
    const windows = { disputeWindowSeconds: null, refundGraceSeconds: null, maxTimeoutSeconds: null };
    const others = { recordSeconds: null, adminDelaySeconds: null, liftGuardianPause: false };
    const same = { ...amounts, ...windows, ...others };
    const [address, key] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
    /** A change proposed at EPOCH. */
    const waiting = (changeId: bigint, dueIn: number, details: Partial<ConfigChange>): FoundChange => ({
      address,
      fields: {
        version: 1,
        bump: 255,
        changeId,
        rentSponsor: CONFIG.admin,
        proposedAt: BigInt(EPOCH),
        dueAt: BigInt(EPOCH + dueIn),
        details: { settings: same, addedRelayAuthorities: [], guardian: null, admin: null, ...details },
      },
    });
    afterEach(() => {
      world.state.changes = [];
    });

    it('shows everybody the changed settings, their due time, and the wallets that can stop the change', async () => {
      const tiers = [{ maxPrice: 20_000_000n, deposit: 100_000n }];
      const settings = { ...same, feeBps: 50, minPrice: 20_000n, disputeBondLamports: 1n, exposureMultiple: 0, tiers };
      world.state.changes = [
        waiting(4n, 86_403, { admin: key }),
        waiting(3n, 86_402, { guardian: PublicKey.default }),
        waiting(2n, 86_401, { addedRelayAuthorities: [key], settings: { ...same, liftGuardianPause: true } }),
        waiting(1n, 3_600, { settings }),
      ];
      world.state.nowMs = (EPOCH + 3_600) * 1_000;
      const admin = CONFIG.admin.toBase58();
      const at = (seconds: number) => new Date((EPOCH + seconds) * 1_000).toISOString();
      const change = (change_id: string, subject: string, dueIn: number, settings: object[]) => ({
        ...{ change: address.toBase58(), change_id, subject, settings },
        status: dueIn > 3_600 ? 'waiting' : 'applicable',
        proposed_at: at(0),
        applicable_at: at(dueIn),
        applicable_in_seconds: dueIn - 3_600,
        expires_at: at(dueIn + 604_800),
      });
      const ofAddress = (setting: string, before: unknown, after: unknown) => {
        return { setting, unit: 'address', before, after };
      };
      expect(await anonymous().call('config.changes')).to.deep.equal({
        guardian: admin,
        admin_delay_seconds: 0,
        changes: [
          change('1', 'settings', 3_600, [
            { setting: 'fee', unit: 'basis_points', before: 100, after: 50 },
            { setting: 'min_price', unit: 'usdc', before: 0.01, after: 0.02 },
            { setting: 'dispute_bond', unit: 'lamports', before: 10_000_000, after: 1 },
            { setting: 'exposure_multiple', unit: 'times_collateral', before: 0, after: 0 },
            { setting: 'collateral_tiers', unit: 'usdc', before: ['1:5', '10:25'], after: ['20:0.1'] },
          ]),
          change('2', 'settings', 86_401, [
            { setting: 'guardian_pause', unit: null, before: false, after: false },
            ofAddress('relay_authorities', [admin], [admin, key.toBase58()]),
          ]),
          change('3', 'guardian', 86_402, [ofAddress('guardian', admin, null)]),
          change('4', 'admin', 86_403, [ofAddress('admin', admin, key.toBase58())]),
        ],
      });
    });

    it('says which changes can never be applied any more', async () => {
      const cancelled = waiting(2n, 1, {});
      cancelled.fields.proposedAt = CONFIG.changesValidFrom;
      world.state.changes = [waiting(1n, 0, {}), cancelled];
      world.state.nowMs = (EPOCH + 604_800) * 1_000;
      const { changes } = await anonymous().call('config.changes');
      expect(changes.map(({ status }) => status)).to.deep.equal(['expired', 'cancelled']);
    });

    it('reads the node once in 4 s, and returns 503 while the node does not answer', async () => {
      world.state.nowMs += 10_000;
      expect((await anonymous().call('config.changes')).changes).to.deep.equal([]);
      world.state.changes = [waiting(1n, 1, {})];
      world.state.nowMs += 3_999;
      expect((await anonymous().call('config.changes')).changes).to.deep.equal([]);
      world.state.nowMs += 1;
      expect((await anonymous().call('config.changes')).changes).to.have.length(1);
      world.state.chainAnswers = false;
      world.state.nowMs += 4_000;
      expect(await refusal(anonymous().call('config.changes'))).to.include({ code: 'service_unavailable' });
    });
  });

  describe('itself', () => {
    it('answers internal faults without details', async () => {
      const { keyUse } = world.deps;
      world.deps.keyUse = { ...keyUse, flush: () => Promise.reject(new TypeError('secret of the house')) };
      const session = await signIn(Keypair.generate());
      const error = await refusal(session.call('keys.list'));
      world.deps.keyUse = keyUse;
      expect(error).to.include({ status: 500, code: 'internal_error' });
      expect(error.message).to.equal(
        `Internal error, logged as ${error.requestId}. Quote this id when you report it to the operator.`,
      );
      expect(error.requestId).to.match(/^[0-9a-f-]{36}$/);
    });

    it('is no answer of another server, and keeps what a newer service adds', async () => {
      const told = (status: number, text: string) =>
        createManagement(createClient({ baseUrl: world.url, fetch: async () => new Response(text, { status }) }));
      for (const [status, text] of [
        [502, '<h1>Bad gateway</h1>'],
        [200, '{"agents":[]}'],
        [200, '{"result":{"data":null}}'],
        [200, '{"result":{"data":{"environment":"test"}}}'],
      ] as const) {
        const refused = await refusal(told(status, text).call('config.get'));
        expect(refused).to.include({ name: 'UnexpectedAnswerError', status, code: 'unexpected_answer' });
      }
      const config = await anonymous().call('config.get');
      const newer = { ...config, extra: 1 };
      const text = JSON.stringify({ result: { data: newer } });
      expect(await told(200, text).call('config.get')).to.deep.equal(newer);
    });

    it('rejects: unknown procedures, wrong methods, bad bodies and batches, and lists the faults for programs', async () => {
      // One byte too many.
      const large = `{${'x'.repeat(32 * 1024)}`;
      const REFUSED: [method: string, path: string, body: string | null, outcome: string, says?: string][] = [
        ['POST', 'no.such', large, '404 not_found'],
        ['POST', 'constructor', '{', '404 not_found'],
        ['GET', 'keys.register', null, '405 method_not_allowed'],
        ['PUT', 'keys.register', '{', '405 method_not_allowed'],
        ['POST', 'config.get', large, '405 method_not_allowed'],
        ['GET', 'config.get,config.get?batch=1', null, '400 invalid_request'],
        ['POST', 'keys.register', large, '413 payload_too_large'],
        // Bodies are read as strictly as at /v1.
        ['POST', 'keys.register', '{"wallet":"x","wallet":"y"}', '400 invalid_request', 'twice'],
        ['POST', 'keys.register', `{"wallet":${'['.repeat(10_000)}`, '400 invalid_request', 'deeper than 64'],
      ];
      const headers = { 'content-type': 'application/json' };
      for (const [method, path, body, outcome, says] of REFUSED) {
        const answer = await world.call(`/trpc/${path}`, { method, body, headers });
        expect(answer.outcome, `${method} ${path}`).to.equal(outcome);
        expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
        expect(answer.text).to.not.match(/\.ts:\d/);
        const { data, message } = answer.json.error;
        expect(`${data.httpStatus} ${data.code}`).to.equal(outcome);
        if (outcome.startsWith('405'))
          expect(answer.headers.get('allow')).to.equal(path === 'config.get' ? 'GET' : 'POST');
        if (outcome.startsWith('413')) expect(data.details).to.deep.equal({ max_bytes: 32 * 1024 });
        if (says) expect(message).to.include(says);
        if (says) expect(data.details.issues[0]).to.include({ in: 'body', path: '' });
      }
      const text = await world.post('/trpc/auth.challenge', '{}', { headers: { 'content-type': 'text/plain' } });
      expect(text.outcome).to.equal('415 unsupported_media_type');
      const { json } = await world.post('/trpc/auth.challenge', { wallet: 7 });
      const issue = { in: 'body', path: 'wallet', expected: 'must be a base58 address', got: '7' };
      expect(json.error.data).to.deep.include({ code: 'invalid_request', details: { issues: [issue] } });
    });

    it('forbids caching and guessing of the media type, and sends the time to retry', async () => {
      world.state.nowMs += 20_000;
      const { headers } = await world.get('/trpc/config.get');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      world.state.chainAnswers = false;
      world.state.nowMs += 2_000;
      const away = await world.get('/trpc/config.get');
      expect([away.outcome, away.headers.get('retry-after')]).to.deep.equal(['503 service_unavailable', '5']);
    });
  });
});
