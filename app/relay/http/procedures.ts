/** Maps each procedure of /trpc to its function, with the wallet that admit.ts has found. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PublicKey } from '@solana/web3.js';
import type { z } from 'zod';
import { findTokenAccount, findTreasury, PROGRAM_ID, relayAuthoritiesOf } from '../../sdk/program/program.ts';
import { describeChanges } from '../../sdk/wallet/pending.ts';
import { STANDARD_TAGS } from '../../sdk/wire/metadata.ts';
import type { MarketplaceConfig, PendingChanges, PROCEDURES, ProcedureName } from '../../sdk/wire/procedures.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { type AdminDeps, readAuthorities } from '../access/admin.ts';
import { askerOf } from '../access/asker.ts';
import { audited, auditedReading, listActions, listEvents } from '../access/audit.ts';
import { readBearer } from '../access/bearer.ts';
import { clientAddress, clientNetwork } from '../access/clientAddress.ts';
import { cookieOf, ownOrigin, peekSession, setCookie } from '../access/cookie.ts';
import { listKeys, registerKey, revokeKey, updateKey } from '../access/keys.ts';
import { approveRequest, describeRequest } from '../access/oauth/codes.ts';
import type { Session } from '../access/sessions.ts';
import { listCreators } from '../agents/creators.ts';
import { readExample, readInput } from '../agents/examples.ts';
import { hasListings, listOwn } from '../agents/ownListings.ts';
import { readStatistics } from '../agents/statistics.ts';
import { type TrialLimits, tryListing } from '../agents/trial.ts';
import { listReceived, readReceived } from '../calls/received.ts';
import { keepEvidence } from '../disputes/evidence.ts';
import { listAllDisputes, listOwnDisputes } from '../disputes/lists.ts';
import { keepReason, keepReply, readCase, readCaseEvidence } from '../disputes/resolving.ts';
import { chainUnreadable } from '../errors.ts';
import { dropExample } from '../ledger/examples.ts';
import { compareHeld } from '../operation/held.ts';
import { readState, type StateDeps } from '../operation/state.ts';
import type { RelayDeps } from './deps.ts';

export interface ProcedureContext {
  deps: RelayDeps;
  admin: AdminDeps;
  state: StateDeps;
  trialLimits: TrialLimits;
}

/** The caller; it has a session if the procedure requires one. */
interface Call<By extends string> {
  session: By extends 'public' ? Session | null : Session;
  request: IncomingMessage;
  response: ServerResponse;
}

type Handlers = {
  [Name in ProcedureName]: (
    call: Call<(typeof PROCEDURES)[Name]['access']>,
    input: z.output<(typeof PROCEDURES)[Name]['input']>,
  ) => Promise<z.input<(typeof PROCEDURES)[Name]['output']>>;
};

export function createHandlers({ deps, admin, state, trialLimits }: ProcedureContext): Handlers {
  const { sessions } = deps;
  const networkOfRequest = (request: IncomingMessage) => clientNetwork(request, deps.config.trustProxy);
  const isAdmin = async (wallet: string) => (await readAuthorities(admin)).admin === wallet;

  const readerOf = ({ wallet }: Session) => ({ wallet, isAdmin: () => isAdmin(wallet) });
  /** A session of the admin is logged before it is handed out. */
  const noteSession = (action: 'auth.signIn' | 'auth.verify', wallet: string, request: IncomingMessage) =>
    audited(deps, { wallet, action, subject: clientAddress(request, deps.config.trustProxy) }, async () => undefined);

  return {
    'config.get': () => readMarketplace(deps, admin),
    'config.changes': () => readPending(deps, admin),
    'operation.state': () => readState(state),
    'operation.held': () => compareHeld(state),
    'operation.actions': (_call, input) => listActions(deps, input),
    'operation.events': (_call, input) => listEvents(deps, (slot) => deps.accounts.readTime(slot), input),

    'auth.challenge': async ({ request }, { wallet }) => sessions.challenge(wallet, ownOrigin(deps, request)),
    async 'auth.verify'({ request }, answer) {
      const session = await sessions.verify(answer, networkOfRequest(request));
      const known = await isAdmin(answer.wallet).catch(() => false);
      if (known) await noteSession('auth.verify', answer.wallet, request);
      return session;
    },
    async 'auth.signIn'({ request, response }, answer) {
      const { cookie, expires_at } = await sessions.signIn(answer, networkOfRequest(request));
      const is_admin = await isAdmin(answer.wallet);
      if (is_admin) await noteSession('auth.signIn', answer.wallet, request);
      response.setHeader('Set-Cookie', setCookie(deps, cookie));
      return { wallet: answer.wallet, is_admin, expires_at };
    },
    async 'auth.session'({ request }) {
      const session = await peekSession(deps, request);
      if (!session) return { wallet: null, is_admin: false, expires_at: null, usdc_account: null, has_listings: false };
      const { wallet, expiresMs } = session;
      const config = await admin.readConfig().catch(() => null);
      return {
        wallet,
        is_admin: await isAdmin(wallet),
        expires_at: new Date(expiresMs).toISOString(),
        usdc_account: config && findTokenAccount(new PublicKey(wallet), config.usdcMint).toBase58(),
        has_listings: await hasListings(deps, wallet),
      };
    },
    async 'auth.signOut'({ request, response }) {
      const token = readBearer(request.headers.authorization);
      if (token !== null) return { signed_out: await sessions.endToken(token) };
      response.setHeader('Set-Cookie', setCookie(deps, null));
      return { signed_out: await sessions.end(cookieOf(deps, request)) };
    },

    'keys.register': ({ session }, input) => registerKey(deps, session?.wallet ?? null, input),
    'keys.list': ({ session }) => listKeys(deps, session.wallet),
    'keys.update': ({ session }, input) => updateKey(deps, session.wallet, input),
    'keys.revoke': ({ session }, input) => revokeKey(deps, session.wallet, input.key_id),

    'oauth.request': async ({ request }, { query }) => describeRequest(ownOrigin(deps, request), query),
    'oauth.approve': async ({ session, request }, input) => ({
      approved_url: await approveRequest(deps, ownOrigin(deps, request), session.wallet, input),
    }),

    'agents.example': (_call, input) => readExample(deps, input.agent_id),
    'executions.asked': ({ session }, input) => readInput(deps, session.wallet, input.execution_id),
    'listings.mine': ({ session }) => listOwn(deps, session.wallet),
    'listings.statistics': ({ session }, input) => readStatistics(deps, session.wallet, input),
    'listings.calls': ({ session }, input) => listReceived(deps, session.wallet, input),
    'listings.call': ({ session }, input) => readReceived(deps, session.wallet, input.execution_id),
    'listings.test': ({ session, request }, input) =>
      tryListing(deps, trialLimits, session.wallet, () => askerOf(deps, request, null), input),
    'listings.withdrawExample': async ({ session }, { metadata_hash }) => ({
      withdrawn: await dropExample(deps.ledger, metadata_hash, session.wallet),
    }),
    'creators.list': (_call, input) => listCreators(deps, input),

    'disputes.mine': ({ session }, input) => listOwnDisputes(deps, session.wallet, input),
    'disputes.queue': ({ session: { wallet } }, input) =>
      auditedReading(deps, { wallet, action: 'disputes.queue', subject: input.outcome ?? 'all' }, () =>
        listAllDisputes(deps, input),
      ),
    'disputes.putEvidence': ({ session }, input) => keepEvidence(deps, session.wallet, input),
    'disputes.evidence': ({ session }, input) => readCaseEvidence(deps, readerOf(session), input.execution_id),
    'disputes.case': ({ session }, input) => readCase(deps, readerOf(session), input.execution_id),
    'disputes.putReply': ({ session }, input) => keepReply(deps, session.wallet, input),
    'disputes.putReason': ({ session: { wallet } }, input) =>
      audited(deps, { wallet, action: 'disputes.putReason', subject: input.execution_id }, () =>
        keepReason(deps, input),
      ),
  };
}

/** Read from the chain, at most 2 s old, because creators and wallets sign transactions with these figures. */
async function readMarketplace(deps: RelayDeps, { readConfig }: AdminDeps): Promise<MarketplaceConfig> {
  const config = await readConfig().catch(chainUnreadable);
  return {
    environment: deps.config.environment,
    operator_contact: deps.config.operatorContact,
    program_id: PROGRAM_ID.toBase58(),
    usdc_mint: config.usdcMint.toBase58(),
    genesis_hash: deps.genesisHash,
    admin: config.admin.toBase58(),
    relay_authorities: relayAuthoritiesOf(config).map(String),
    treasury: findTreasury().toBase58(),
    rpc_url: deps.config.publicRpcUrl,
    explorer_query: deps.explorerQuery,
    egress_ips: deps.config.egressIps,
    fee_bps: config.feeBps,
    min_price_usdc: toUsdc(config.minPrice),
    exposure_multiple: config.exposureMultiple,
    max_timeout_seconds: config.maxTimeoutSeconds,
    dispute_window_seconds: config.disputeWindowSeconds,
    refund_grace_seconds: config.refundGraceSeconds,
    record_seconds: config.recordSeconds,
    longest_span_seconds: config.longestSpanSeconds,
    dispute_bond_lamports: Number(config.disputeBondLamports),
    collateral_tiers: config.tiers
      .slice(0, config.tierCount)
      .map((tier) => ({ max_price_usdc: toUsdc(tier.maxPrice), deposit_usdc: toUsdc(tier.deposit) })),
    standard_tags: [...STANDARD_TAGS],
    x402_service_fee_usdc: deps.x402 && toUsdc(deps.x402.serviceFee()),
    is_sponsored: deps.config.sponsorsAll,
  };
}

async function readPending({ accounts }: RelayDeps, admin: AdminDeps): Promise<PendingChanges> {
  const [config, found] = await Promise.all([admin.readConfig(), admin.readChanges()]).catch(chainUnreadable);
  return describeChanges(config, found, accounts.clock());
}
