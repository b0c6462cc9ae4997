/**
 * The marketplace administered by commands alone, on a real node. Covers every setting, every transfer of the admin
 * role, the collected fees, and the refusals for other wallets.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import {
  decodeAccount,
  findConfig,
  findCreator,
  findTokenAccount,
  findTreasury,
} from '../../app/sdk/program/program.ts';
import { until } from '../harness/edge/until.ts';
import { useMarketplace } from '../harness/node/marketplace.ts';
import { runHere, useTerminal } from './run.ts';

const FEE = 2_500n;
const SETTINGS = {
  admin_paused: false,
  guardian_paused: false,
  fee_bps: 100,
  min_price_usdc: '0.01',
  dispute_bond_lamports: '10000000',
  dispute_window_seconds: 259_200,
  refund_grace_seconds: 600,
  max_timeout_seconds: 3_600,
  record_seconds: 3_600,
  longest_span_seconds: 263_400,
  exposure_multiple: 0,
};
const TIERS = [
  { max_price_usdc: '0.1', deposit_usdc: '1' },
  { max_price_usdc: '1', deposit_usdc: '5' },
  { max_price_usdc: '10', deposit_usdc: '25' },
  { max_price_usdc: '100', deposit_usdc: '100' },
];

describe('the command line without the service: the admin', function () {
  this.timeout(600_000);
  const market = useMarketplace();
  const terminal = useTerminal(() => market.node.rpcUrl);
  let admin: Keypair;
  let caller: Keypair;
  let stranger: Keypair;

  const config = () => terminal.look('admin', 'config');
  /** What cancels changes also cancels those of its own second. */
  const pass = () =>
    until('changes can be proposed', async () => {
      const cancelled = Date.parse((await config()).changes_valid_from as string) / 1_000;
      return (await market.node.now()) > cancelled;
    });
  const notAdmin = (wallet: Keypair) =>
    `(NotAdmin). The admin is ${admin.publicKey}; this wallet is ${wallet.publicKey}.`;

  before(async () => {
    admin = market.node.payer;
    [caller, stranger] = [market.callers[0]!.wallet, market.callers[1]!.wallet];
    const call = () => market.execute(market.relay.url, { task: 'sums' });
    for (let calls = 0; calls < 4; calls += 1) expect((await call()).body.status).to.equal('completed');
  });

  it('shows every setting, authority and the treasury to anyone', async () => {
    expect(await config()).to.deep.equal({
      config: findConfig().toBase58(),
      admin: admin.publicKey.toBase58(),
      admin_since: null,
      guardian: null,
      admin_delay_seconds: 0,
      changes_valid_from: null,
      relay_authorities: [market.authority.publicKey.toBase58()],
      usdc_mint: market.usdcMint.toBase58(),
      treasury: findTreasury().toBase58(),
      treasury_usdc: '0.01',
      ...SETTINGS,
      tiers: TIERS,
    });
  });

  it('shows the same settings through the service, and as a table', async () => {
    const { code, stdout, stderr } = await runHere(['admin', 'config', '--base-url', market.relay.url]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include(`admin: ${admin.publicKey}\nadmin_since: -\n`).and.include('treasury_usdc: 0.01\n');
  });

  it('changes the named settings and leaves the others', async () => {
    const before = await config();
    const change = ['--min-price', '0.02', '--dispute-bond-lamports', '0', '--max-timeout-seconds', '7200'];
    expect(await terminal.done(admin, 'admin', 'update-config', ...change)).to.include({ changed: 3 });
    const changed = {
      ...before,
      min_price_usdc: '0.02',
      dispute_bond_lamports: '0',
      max_timeout_seconds: 7_200,
      longest_span_seconds: 267_000,
    };
    expect(await config()).to.deep.equal(changed);
    const others = '--fee-bps 0 --dispute-window-seconds 300000 --refund-grace-seconds 300 --record-seconds 7200';
    const tiers = ['--exposure-multiple', '3', '--tiers', '0.5:2,1:5'];
    await terminal.done(admin, 'admin', 'update-config', ...others.split(' '), ...tiers);
    expect(await config()).to.deep.equal({
      ...changed,
      fee_bps: 0,
      dispute_window_seconds: 300_000,
      refund_grace_seconds: 300,
      record_seconds: 7_200,
      exposure_multiple: 3,
      longest_span_seconds: 307_500,
      tiers: [
        { max_price_usdc: '0.5', deposit_usdc: '2' },
        { max_price_usdc: '1', deposit_usdc: '5' },
      ],
    });
  });

  it('refuses settings out of bounds, an empty change, and any other wallet', async () => {
    const before = await config();
    const refuse = (...words: string[]) => terminal.refused(admin, 'admin', 'update-config', ...words);
    expect(await refuse()).to.equal('Name at least one setting to change; --help lists them.\n');
    expect(await refuse('--fee-bps', '101')).to.include('fee_bps must be between 0 and 100 (FeeOutOfBounds).');
    expect(await terminal.refused(stranger, 'admin', 'update-config', '--fee-bps', '1')).to.include(notAdmin(stranger));
    expect(await config()).to.deep.equal(before);
  });

  it('pauses and resumes all opens', async () => {
    const open = ['execution', 'open', market.agentId, '--task', 'sums'];
    expect(await terminal.refused(stranger, 'admin', 'pause-opens')).to.include(
      `(NotGuardianOrAdmin). The admin is ${admin.publicKey}, the guardian nobody; this wallet is ${stranger.publicKey}.`,
    );
    const pauses = { admin_paused: true, guardian_paused: false };
    expect(await terminal.done(admin, 'admin', 'pause-opens')).to.include(pauses);
    expect(await config()).to.include(pauses);
    expect(await terminal.refused(caller, ...open)).to.include('New executions are paused (OpensPaused).');
    expect(await terminal.done(admin, 'admin', 'resume-opens')).to.include({ ...pauses, admin_paused: false });
    expect(await terminal.done(caller, ...open)).to.include({ price_usdc: '0.25' });
  });

  it('withdraws fees to the named account, and never more than the treasury has', async () => {
    const other = market.callers[1]!.usdc;
    const before = await market.amountOf(other);
    const withdraw = ['admin', 'withdraw-treasury'];
    expect(await terminal.refused(admin, ...withdraw, '0.010001')).to.include(
      '(InvalidAmount). The treasury holds 0.01 USDC.',
    );
    const own = findTokenAccount(admin.publicKey, market.usdcMint);
    expect(await terminal.refused(admin, ...withdraw, '0.01')).to.include(
      `(DestinationUnusable). The account is ${own}.`,
    );
    const thief = [...withdraw, '0.01', '--destination', other.toBase58()];
    expect(await terminal.refused(stranger, ...thief)).to.include(notAdmin(stranger));
    const words = [...withdraw, '0.0025', '--destination', other.toBase58()];
    expect(await terminal.done(admin, ...words)).to.include({ amount_usdc: '0.0025', destination: other.toBase58() });
    expect(await market.amountOf(other)).to.equal(before + FEE);
    expect(await market.amountOf(findTreasury())).to.equal(3n * FEE);
  });

  it('grants a badge and removes it', async () => {
    const wallet = market.creator.publicKey;
    const profile = async () => {
      const account = await market.node.connection.getAccountInfo(findCreator(wallet));
      return decodeAccount('CreatorProfile', account?.data as Buffer);
    };
    const verify = ['admin', 'verify-creator', wallet.toBase58()];
    expect(await terminal.refused(stranger, ...verify)).to.include(notAdmin(stranger));
    expect(await terminal.done(admin, ...verify)).to.include({ creator: wallet.toBase58(), verified: true });
    expect((await profile()).verified).to.equal(true);
    expect(await terminal.done(admin, ...verify, '--revoke')).to.include({ verified: false });
    expect((await profile()).verified).to.equal(false);
  });

  it('adds a relay authority and removes another', async () => {
    const add = ['admin', 'propose-change', '--add-relay-authority'];
    const added = stranger.publicKey.toBase58();
    expect(await terminal.refused(stranger, ...add, added)).to.include(notAdmin(stranger));
    const { change_id } = await terminal.done(admin, ...add, added);
    await terminal.done(stranger, 'admin', 'apply-change', change_id);
    await terminal.done(admin, 'admin', 'remove-relay-authority', market.authority.publicKey.toBase58());
    expect((await config()).relay_authorities).to.deep.equal([added]);
    await pass();
  });

  it('transfers the admin role in two steps, and a proposal can be cancelled', async () => {
    const next = Keypair.generate();
    await market.node.fundSol(next.publicKey, 1e9);
    const propose = async (wallet: Keypair) => {
      const words = ['admin', 'propose-change', '--next-admin', next.publicKey.toBase58()];
      return (await terminal.done(wallet, ...words)).change_id as string;
    };
    const nobody = `No pending change proposes ${next.publicKey} as admin.`;
    expect(await terminal.refused(next, 'admin', 'accept')).to.include(nobody);
    const first = await propose(admin);
    expect(await terminal.refused(stranger, 'admin', 'apply-change', first)).to.include(
      `(AdminMustAccept). ${next.publicKey} must run \`admin accept\`.`,
    );
    await terminal.done(admin, 'admin', 'cancel-change', first);
    expect(await terminal.refused(next, 'admin', 'accept')).to.include(nobody);
    await propose(admin);
    const { changes } = await terminal.look('admin', 'changes');
    const after = next.publicKey.toBase58();
    const setting = { setting: 'admin', unit: 'address', before: admin.publicKey.toBase58(), after };
    expect(changes[0]).to.deep.include({ subject: 'admin', status: 'applicable', settings: [setting] });
    expect(await terminal.done(next, 'admin', 'accept')).to.include({ admin: after });
    const { admin: named, admin_since, changes_valid_from } = await config();
    expect(named).to.equal(after);
    expect(admin_since).to.be.a('string').and.equal(changes_valid_from);
    expect(await terminal.refused(admin, 'admin', 'resume-opens')).to.include(
      `(NotGuardianOrAdmin). The admin is ${next.publicKey},`,
    );
    admin = next;
    await pass();
  });

  it('delays and shows changes that widen power; the guardian pauses, removes and cancels', async () => {
    const guardian = Keypair.generate();
    const [guard, relay] = [guardian, Keypair.generate()].map(({ publicKey }) => publicKey.toBase58());
    await market.node.fundSol(guardian.publicKey, 1e9);
    const waiting = async () => (await terminal.look('admin', 'changes')).changes as Record<string, unknown>[];
    const propose = async (...words: string[]) => {
      const { change_id } = await terminal.done(admin, 'admin', 'propose-change', ...words);
      return change_id as string;
    };

    // Without a delay a change is due at once.
    const first = await propose('--add-relay-authority', relay!);
    const relays = (await config()).relay_authorities as string[];
    const added = { setting: 'relay_authorities', unit: 'address', before: relays, after: [...relays, relay] };
    const shown = { subject: 'settings', status: 'applicable', applicable_in_seconds: 0 };
    expect((await waiting())[0]).to.deep.include({ ...shown, change_id: first, settings: [added] });
    expect(await terminal.done(stranger, 'admin', 'apply-change', first)).to.include({ applied: true });
    expect(await waiting()).to.deep.equal([]);
    const mixed = ['admin', 'propose-change', '--guardian', guard!, '--fee-bps', '7'];
    expect(await terminal.refused(admin, ...mixed)).to.include('Propose them separately (MixedChange).');
    await terminal.done(stranger, 'admin', 'apply-change', await propose('--guardian', guard!));
    expect(await config()).to.include({ guardian: guard, admin_delay_seconds: 0 });
    expect(await terminal.done(guardian, 'admin', 'remove-relay-authority', relay!)).to.include({ removed: relay });
    expect((await config()).relay_authorities).not.to.include(relay);
    const paused = { admin_paused: false, guardian_paused: true };
    expect(await terminal.done(guardian, 'admin', 'pause-opens')).to.include(paused);
    expect(await terminal.done(admin, 'admin', 'resume-opens')).to.include(paused);
    expect(await terminal.refused(admin, 'admin', 'withdraw-treasury', '0.0001')).to.include(
      `(TreasuryPaused). Only the guardian, ${guard}, can lift this at once.`,
    );
    expect(await terminal.done(guardian, 'admin', 'resume-opens')).to.include({ ...paused, guardian_paused: false });

    await pass();
    await terminal.done(admin, 'admin', 'update-config', '--admin-delay-seconds', '86400');
    const refused = await terminal.refused(admin, 'admin', 'update-config', '--fee-bps', '7');
    expect(refused).to.include('(ChangeMustWait). Announce it with `admin propose-change`');
    const [fee, other] = [await propose('--fee-bps', '7'), await propose('--min-price', '0.03')];
    expect((await waiting()).map(({ change_id }) => change_id)).to.have.members([fee, other]);
    expect(await terminal.refused(stranger, 'admin', 'apply-change', fee)).to.include(
      '(ChangeNotDue). It can be applied from 20',
    );
    expect(await terminal.done(guardian, 'admin', 'cancel-change', other)).to.include({ cancelled: true });
    expect(await terminal.refused(guardian, 'admin', 'cancel-change', other)).to.include('No change');
    const many = Array.from({ length: 9 }, (_, number) => String(number));
    expect(await terminal.refused(guardian, 'admin', 'cancel-change', ...many)).to.include(
      'Name at most 8 changes at once, not 9.',
    );

    await market.node.timeTravel((await market.node.now()) + 86_400);
    const lowered = [{ setting: 'fee', unit: 'basis_points', before: 0, after: 7 }];
    expect((await waiting())[0]).to.deep.include({ change_id: fee, applicable_in_seconds: 0, settings: lowered });
    expect(await terminal.look('admin', 'changes')).to.include({ guardian: guard, admin_delay_seconds: 86_400 });
    await terminal.done(stranger, 'admin', 'apply-change', fee);
    expect(await config()).to.include({ fee_bps: 7, admin_delay_seconds: 86_400 });

    const last = await propose('--fee-bps', '9');
    await terminal.done(guardian, 'admin', 'cancel-all-changes');
    expect((await waiting()).map(({ status }) => status)).to.deep.equal(['cancelled']);
    await market.node.timeTravel((await market.node.now()) + 86_400);
    expect(await terminal.refused(stranger, 'admin', 'apply-change', last)).to.include('(ChangeInvalidated)');
    await terminal.done(stranger, 'admin', 'cancel-change', last);
    expect(await waiting()).to.deep.equal([]);
  });
});
