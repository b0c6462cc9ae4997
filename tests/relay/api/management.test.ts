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

  describe('config.get', () => {
    it("returns the chain's settings that a client needs", async () => {
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
  });

  describe('config.changes', () => {
    const nothing = { feeBps: null, minPrice: null, disputeBondLamports: null, liftGuardianPause: false, tiers: null };
    const others = {
      disputeWindowSeconds: null,
      refundGraceSeconds: null,
      maxTimeoutSeconds: null,
      recordSeconds: null,
    };
    const same = { ...nothing, ...others, exposureMultiple: null, adminDelaySeconds: null };
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
      const times = { change: address.toBase58(), proposed_at: new Date(EPOCH * 1_000).toISOString() };
      const at = (seconds: number) => new Date((EPOCH + seconds) * 1_000).toISOString();
      const later = (dueIn: number) => ({
        status: 'waiting',
        applicable_at: at(dueIn),
        applicable_in_seconds: dueIn - 3_600,
        expires_at: at(dueIn + 604_800),
      });
      expect(await anonymous().call('config.changes')).to.deep.equal({
        guardian: admin,
        admin_delay_seconds: 0,
        changes: [
          {
            ...times,
            change_id: '1',
            subject: 'settings',
            status: 'applicable',
            applicable_at: at(3_600),
            applicable_in_seconds: 0,
            expires_at: at(3_600 + 604_800),
            settings: [
              { setting: 'fee', unit: 'basis_points', before: 100, after: 50 },
              { setting: 'min_price', unit: 'usdc', before: 0.01, after: 0.02 },
              { setting: 'dispute_bond', unit: 'lamports', before: 10_000_000, after: 1 },
              { setting: 'exposure_multiple', unit: 'times_collateral', before: 0, after: 0 },
              {
                setting: 'collateral_tiers',
                unit: 'usdc',
                before: ['1:5', '10:25'],
                after: ['20:0.1'],
              },
            ],
          },
          {
            ...times,
            change_id: '2',
            subject: 'settings',
            ...later(86_401),
            settings: [
              { setting: 'guardian_pause', unit: null, before: false, after: false },
              { setting: 'relay_authorities', unit: 'address', before: [admin], after: [admin, key.toBase58()] },
            ],
          },
          {
            ...times,
            change_id: '3',
            subject: 'guardian',
            ...later(86_402),
            settings: [{ setting: 'guardian', unit: 'address', before: admin, after: null }],
          },
          {
            ...times,
            change_id: '4',
            subject: 'admin',
            ...later(86_403),
            settings: [{ setting: 'admin', unit: 'address', before: admin, after: key.toBase58() }],
          },
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
        [200, ''],
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

    it('rejects: unknown procedures, wrong methods, bad JSON, large bodies and batches', async () => {
      const post = (path: string, body: string) => world.post(path, body);
      const answers: [Awaited<ReturnType<typeof post>>, number, string][] = [
        [await world.get('/trpc/no.such'), 404, 'not_found'],
        [await world.get('/trpc/keys.register'), 405, 'method_not_allowed'],
        [await post('/trpc/keys.register', '{'), 400, 'invalid_request'],
        [await post('/trpc/keys.register', `"${'x'.repeat(32 * 1024)}"`), 413, 'payload_too_large'],
        [await post('/trpc/no.such', `{${'x'.repeat(40 * 1024)}`), 404, 'not_found'],
        [await post('/trpc/constructor', '{'), 404, 'not_found'],
        [await post('/trpc/config.get', `{${'x'.repeat(40 * 1024)}`), 405, 'method_not_allowed'],
        [
          await world.call('/trpc/keys.register', {
            method: 'PUT',
            body: '{',
            headers: { 'content-type': 'application/json' },
          }),
          405,
          'method_not_allowed',
        ],
        [await world.get('/trpc/config.get,config.get?batch=1'), 400, 'invalid_request'],
      ];
      for (const [answer, status, code] of answers) {
        const { error } = JSON.parse(answer.text);
        expect([answer.status, error.data.code]).to.deep.equal([status, code]);
        expect(answer.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
        expect(answer.text).to.not.match(/\.ts:\d/);
      }
    });
  });
});
