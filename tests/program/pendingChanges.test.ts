/**
 * Changes that widen power must wait. Everybody can see them, and the guardian or the admin can cancel them, so that a
 * thief of the admin's or the guardian's key reaches nobody's money or role.
 */
import { type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { mustWait } from '../../app/sdk/wallet/changes.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { CHANGE_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { TIERS, type World, world } from '../harness/vm/world.ts';

const DELAY = 86_400;
const DAY = 86_400n;
const WEEK = 7n * DAY;

describe('pending changes:', () => {
  let w: World;
  const guardian = namedKeypair('guardian');
  const next = namedKeypair('next admin');
  const accomplice = namedKeypair('accomplice');

  /** A marketplace with a guardian and a delay of this many seconds. */
  async function begin(adminDelaySeconds: number): Promise<void> {
    w = await world({ config: { guardian: guardian.publicKey, adminDelaySeconds, exposureMultiple: 10 } });
    for (const { publicKey } of [guardian, next, accomplice]) await w.vm.airdrop(publicKey, 1_000_000_000n);
  }
  beforeEach(() => begin(DELAY));

  const config = () => w.read('Config', program.findConfig());
  const admin = () => w.admin.publicKey;
  const update = (change: program.SettingsChange) => program.updateConfig({ admin: admin(), ...change });
  const propose = (change: Omit<program.ProposeChangeInput, 'admin' | 'payer' | 'changeId'>, changeId = 1n) =>
    program.proposeChange({ admin: admin(), payer: admin(), changeId, ...change });
  const apply = (changeId = 1n, rentSponsor = admin()) => program.applyChange({ changeId, rentSponsor });
  const cancel = (authority: Keypair, changeId = 1n) =>
    program.cancelChange({ authority: authority.publicKey, changeId, rentSponsor: admin() });
  const remove = (authority: Keypair, relayAuthority: PublicKey) =>
    program.removeRelayAuthority({ authority: authority.publicKey, relayAuthority });
  const accept = (who: Keypair, changeId = 1n, rentSponsor = admin()) =>
    program.acceptAdmin({ nextAdmin: who.publicKey, changeId, rentSponsor });
  const pause = (authority: Keypair, isPaused = true) => program.setPause({ authority: authority.publicKey, isPaused });
  const cancelAll = (authority: Keypair) => program.cancelAllChanges({ authority: authority.publicKey });
  const open = () => program.openExecution(w.openInput());
  const travel = (seconds: bigint) => w.vm.setClock(w.vm.now + seconds);

  it('lets anyone apply a change from due_at on and not a second before, and returns the rent', async () => {
    const rent = w.vm.rent(CHANGE_BYTES);
    await w.moves([propose({ settings: { feeBps: 50 } })], [w.admin], { admin: { lamports: -rent } });
    expect(await w.read('PendingChange', program.findChange(1n))).to.include({
      proposedAt: START,
      dueAt: START + DAY,
    });
    await w.vm.setClock(START + DAY - 1n);
    await w.rejects([apply()], [], 'ChangeNotDue');
    expect((await config()).feeBps).to.equal(100);
    await w.vm.setClock(START + DAY);
    await w.rejects([apply(1n, w.stranger.publicKey)], [], 'WrongRentSponsor');
    await w.moves([apply()], [], { admin: { lamports: rent } });
    expect((await config()).feeBps).to.equal(50);
    await w.rejects([apply()], [], 'AccountNotInitialized');
  });

  it('expires a change 7 days after it is due: it can only be cancelled, and by anyone', async () => {
    await w.must([propose({ settings: { feeBps: 50 } })], [w.admin]);
    await w.must([propose({ settings: { feeBps: 40 } }, 2n), propose({ nextAdmin: next.publicKey }, 3n)], [w.admin]);
    const expiresAt = START + DAY + WEEK;
    await w.vm.setClock(expiresAt - 1n);
    await w.must([apply(2n)], []);
    await w.vm.setClock(expiresAt);
    await w.rejects([apply()], [], 'ChangeExpired');
    await w.rejects([accept(next, 3n)], [next], 'ChangeExpired');
    const rent = w.vm.rent(CHANGE_BYTES);
    for (const id of [1n, 3n]) await w.moves([cancel(w.stranger, id)], [w.stranger], { admin: { lamports: rent } });
    expect((await config()).feeBps).to.equal(40);
  });

  it('applies changes that narrow power at once', async () => {
    await w.must([update({ exposureMultiple: 9, disputeWindowSeconds: 260_000 })], [w.admin]);
    const narrowing = { liftGuardianPause: true, feeBps: 100, exposureMultiple: 8, disputeWindowSeconds: 260_001 };
    for (const change of [narrowing, { ...narrowing, tiers: TIERS }]) {
      expect(mustWait({ config: await config() }, change)).to.equal(false);
      await w.must([update(change)], [w.admin]);
    }
    await w.must([update({ refundGraceSeconds: 300, maxTimeoutSeconds: 60, adminDelaySeconds: DELAY })], [w.admin]);
    expect(await config()).to.include({ exposureMultiple: 8, disputeWindowSeconds: 260_001 });
  });

  it('rejects: every change that widens power without waiting', async () => {
    const tiers = TIERS.slice(0, 3);
    const widening: program.SettingsChange[] = [
      ...[{ feeBps: 99 }, { minPrice: 10_001n }, { disputeBondLamports: 1n }, { tiers }],
      ...[{ exposureMultiple: 11 }, { exposureMultiple: 0 }, { adminDelaySeconds: DELAY + 1 }],
      ...[{ recordSeconds: 3_601 }, { recordSeconds: 259_200 }],
    ];
    for (const change of widening) {
      await w.rejects([update(change)], [w.admin], 'ChangeMustWait');
      expect(mustWait({ config: await config() }, change)).to.equal(true);
    }
    await w.must([update({ disputeWindowSeconds: 259_201 })], [w.admin]);
    await w.rejects([update({ disputeWindowSeconds: 259_200 })], [w.admin], 'ChangeMustWait');
    // A narrowing change cannot carry a widening one with it.
    await w.rejects([update({ exposureMultiple: 9, feeBps: 1 })], [w.admin], 'ChangeMustWait');
  });

  it('only raises the delay, to at most 30 days, even by a change that has waited', async () => {
    await w.rejects([update({ adminDelaySeconds: DELAY - 1 })], [w.admin], 'AdminDelayOutOfBounds');
    await w.rejects([update({ adminDelaySeconds: 0 })], [w.admin], 'AdminDelayOutOfBounds');
    await w.rejects([propose({ settings: { adminDelaySeconds: 0 } })], [w.admin], 'AdminDelayOutOfBounds');
    await w.rejects([update({ adminDelaySeconds: 2_592_001 })], [w.admin], 'AdminDelayOutOfBounds');
    await w.must([propose({ settings: { adminDelaySeconds: 2_592_000 } }, 2n)], [w.admin]);
    await w.vm.setClock(START + DAY);
    await w.must([apply(2n)], []);
    await w.must([propose({})], [w.admin]);
    expect((await w.read('PendingChange', program.findChange(1n))).dueAt).to.equal(w.vm.now + 2_592_000n);
  });

  it('adds relay authorities to those that exist when it is applied', async () => {
    const keys = [next.publicKey, w.relay.publicKey];
    await w.must([propose({ addedRelayAuthorities: keys })], [w.admin]);
    await w.must([propose({ addedRelayAuthorities: [guardian.publicKey] }, 2n)], [w.admin]);
    await w.vm.setClock(START + DAY);
    await w.must([apply(2n)], []);
    await w.must([apply()], []);
    const relays = [w.relay.publicKey, guardian.publicKey, next.publicKey];
    expect(program.relayAuthoritiesOf(await config()).map(String)).to.deep.equal(relays.map(String));
    await w.must([remove(w.admin, guardian.publicKey)], [w.admin]);
    const left = [w.relay.publicKey, next.publicKey];
    expect(program.relayAuthoritiesOf(await config()).map(String)).to.deep.equal(left.map(String));
    await travel(1n);
    const nine = Array.from({ length: 7 }, (_, index) => namedKeypair(`added ${index}`).publicKey);
    await w.rejects([propose({ addedRelayAuthorities: nine })], [w.admin], 'InvalidRelayAuthorities');
  });

  it('lets admin and guardian remove relay authorities at once, even the last, and no earlier proposal bring one back', async () => {
    const rent = w.vm.rent(CHANGE_BYTES);
    const thief = w.relay.publicKey;
    await w.must([propose({ addedRelayAuthorities: [thief, accomplice.publicKey] })], [w.admin]);
    await w.rejects([remove(w.stranger, thief)], [w.stranger], 'NotGuardianOrAdmin');
    await w.rejects([remove(guardian, next.publicKey)], [guardian], 'UnknownRelayAuthority');
    await w.must([remove(guardian, thief)], [guardian]);
    expect(await config()).to.include({ relayAuthorityCount: 0, changesValidFrom: START });
    await travel(DAY);
    await w.rejects([apply()], [], 'ChangeInvalidated');
    await w.moves([cancel(w.stranger)], [w.stranger], { admin: { lamports: rent } });
    await w.must([propose({ addedRelayAuthorities: [next.publicKey] }, 2n)], [w.admin]);
    await travel(DAY);
    await w.must([apply(2n)], []);
    expect(program.relayAuthoritiesOf(await config()).map(String)).to.deep.equal([next.publicKey.toBase58()]);
  });

  it('transfers the admin role after the delay and the acceptance, which ends all earlier changes', async () => {
    const rent = w.vm.rent(CHANGE_BYTES);
    await w.must([propose({ nextAdmin: next.publicKey })], [w.admin]);
    const plots = [
      { settings: { feeBps: 0 } },
      { guardian: accomplice.publicKey },
      { nextAdmin: accomplice.publicKey },
    ];
    for (const [at, plot] of plots.entries()) await w.must([propose(plot, BigInt(at + 2))], [w.admin]);
    await w.rejects([accept(next)], [next], 'ChangeNotDue');
    const dueAt = START + DAY;
    await w.vm.setClock(dueAt);
    await w.rejects([apply()], [], 'AdminMustAccept');
    await w.rejects([accept(w.stranger)], [w.stranger], 'NotNextAdmin');
    await w.rejects([accept(next, 1n, next.publicKey)], [next], 'WrongRentSponsor');
    await w.rejects([signedBy(update({ maxTimeoutSeconds: 60 }), next)], [next], 'NotAdmin');
    await w.moves([accept(next)], [next], { admin: { lamports: rent } });
    expect(await config()).to.include({ adminSince: dueAt, changesValidFrom: dueAt });
    await w.rejects([update({ maxTimeoutSeconds: 60 })], [w.admin], 'NotAdmin');
    await w.must([signedBy(update({ maxTimeoutSeconds: 60 }), next)], [next]);
    await w.rejects([accept(next)], [next], 'AccountNotInitialized');
    await travel(WEEK - 1n);
    for (const id of [2n, 3n]) await w.rejects([apply(id)], [], 'ChangeInvalidated');
    await w.rejects([accept(accomplice, 4n)], [accomplice], 'ChangeInvalidated');
    for (const id of [2n, 3n, 4n]) await w.moves([cancel(w.stranger, id)], [w.stranger], { admin: { lamports: rent } });
  });

  it("lets the admin's key stop its own replacement neither alone, nor with all changes, nor by a longer delay", async () => {
    await w.must([propose({ nextAdmin: next.publicKey })], [w.admin]);
    await w.rejects([cancel(w.admin)], [w.admin], 'NotGuardian');
    await w.must([cancelAll(w.admin)], [w.admin]);
    await w.rejects([update({ adminDelaySeconds: 30 * DELAY })], [w.admin], 'ChangeMustWait');
    await w.must([propose({ nextAdmin: accomplice.publicKey }, 2n)], [w.admin]);
    await w.must([cancel(guardian, 2n)], [guardian]);
    await travel(DAY);
    await w.must([accept(next)], [next]);
    expect((await config()).admin.equals(next.publicKey)).to.equal(true);
  });

  it('lets only guardian and admin cancel a change of settings, even one that is due', async () => {
    const rent = w.vm.rent(CHANGE_BYTES);
    await w.must([propose({ settings: { feeBps: 50 } }), propose({ settings: { feeBps: 51 } }, 2n)], [w.admin]);
    for (const who of [w.stranger, w.relay, next]) await w.rejects([cancel(who)], [who], 'NotGuardianOrAdmin');
    await w.vm.setClock(START + DAY);
    await w.moves([cancel(guardian)], [guardian], { admin: { lamports: rent } });
    await w.moves([cancel(w.admin, 2n)], [w.admin], { admin: { lamports: rent } });
    await w.rejects([apply()], [], 'AccountNotInitialized');
  });

  it('replaces the guardian 7 days after the delay, whatever the guardian cancels or pauses', async () => {
    const dueAt = START + DAY + WEEK;
    await w.must([propose({ guardian: next.publicKey })], [w.admin]);
    expect((await w.read('PendingChange', program.findChange(1n))).dueAt).to.equal(dueAt);
    await w.rejects([cancel(guardian)], [guardian], 'NotAdmin');
    await w.must([cancelAll(guardian), pause(guardian)], [guardian]);
    await w.vm.setClock(dueAt - 1n);
    await w.rejects([apply()], [], 'ChangeNotDue');
    await w.vm.setClock(dueAt);
    await w.must([apply()], []);
    expect((await config()).guardian.equals(next.publicKey)).to.equal(true);
    await w.rejects([pause(guardian)], [guardian], 'NotGuardianOrAdmin');
    // The pause belongs to the new guardian.
    await w.must([pause(next, false)], [next]);
    await w.must([open()], [w.caller]);
  });

  it('cancels all changes of settings at once; their rent returns by the hand of anyone', async () => {
    const rent = w.vm.rent(CHANGE_BYTES);
    await w.must([propose({ settings: { feeBps: 50 } }), propose({ guardian: next.publicKey }, 2n)], [w.admin]);
    for (const who of [w.stranger, w.relay, next]) await w.rejects([cancelAll(who)], [who], 'NotGuardianOrAdmin');
    await w.must([cancelAll(guardian)], [guardian]);
    expect(await config()).to.include({ changesValidFrom: START, adminSince: 0n });
    await w.rejects([propose({ settings: { feeBps: 51 } }, 3n)], [w.admin], 'ChangeInvalidated');
    await w.vm.setClock(START + 1n);
    await w.must([propose({ settings: { feeBps: 52 } }, 3n)], [w.admin]);
    await w.vm.setClock(START + 1n + DAY);
    await w.rejects([apply()], [], 'ChangeInvalidated');
    await w.moves([cancel(w.stranger)], [w.stranger], { admin: { lamports: rent } });
    await w.rejects([cancel(w.stranger, 3n)], [w.stranger], 'NotGuardianOrAdmin');
    await w.must([apply(3n)], []);
    expect((await config()).feeBps).to.equal(52);
    await w.rejects([cancel(w.stranger, 2n)], [w.stranger], 'NotAdmin');
    await w.must([cancelAll(w.admin)], [w.admin]);
    expect((await config()).changesValidFrom).to.equal(w.vm.now);
  });

  it('lets admin and guardian each set and lift only their own pause', async () => {
    const pauses = async () => {
      const { adminPaused, guardianPaused } = await config();
      return [adminPaused, guardianPaused];
    };
    await w.must([pause(w.admin)], [w.admin]);
    expect((await config()).changesValidFrom).to.equal(0n);
    await w.must([pause(guardian)], [guardian]);
    expect((await config()).changesValidFrom).to.equal(START);
    expect(await pauses()).to.deep.equal([true, true]);
    await w.must([pause(w.admin, false)], [w.admin]);
    expect(await pauses()).to.deep.equal([false, true]);
    await w.must([pause(w.admin), pause(guardian, false)], [w.admin, guardian]);
    expect(await pauses()).to.deep.equal([true, false]);
    for (const who of [w.relay, w.stranger, next]) await w.rejects([pause(who)], [who], 'NotGuardianOrAdmin');
    await w.rejects([pause(w.relay, false)], [w.relay], 'NotGuardianOrAdmin');
    await w.overwrite('Config', program.findConfig(), { guardian: w.admin.publicKey });
    await w.must([pause(w.admin, false)], [w.admin]);
    expect(await pauses()).to.deep.equal([false, false]);
    await w.must([pause(w.admin)], [w.admin]);
    expect(await pauses()).to.deep.equal([true, true]);
    await w.rejects([pause(guardian, false)], [guardian], 'NotGuardianOrAdmin');
  });

  it('ends a pause of the guardian only by a change that was proposed after it, in a later second', async () => {
    const lift = { settings: { liftGuardianPause: true } };
    await w.must([propose(lift)], [w.admin]);
    await travel(DAY);
    await w.must([pause(guardian)], [guardian]);
    await w.rejects([apply()], [], 'ChangeInvalidated');
    await w.rejects([propose(lift, 2n)], [w.admin], 'ChangeInvalidated');
    await travel(1n);
    await w.must([propose(lift, 2n)], [w.admin]);
    await travel(DAY - 1n);
    await w.rejects([apply(2n)], [], 'ChangeNotDue');
    await w.rejects([open()], [w.caller], 'OpensPaused');
    // The guardian has let it pass.
    await travel(1n);
    await w.must([apply(2n)], []);
    await w.must([open()], [w.caller]);
  });

  it('lets a pause outlive its guardian: the admin ends it by a change, and cancels what only a guardian could', async () => {
    await w.must([propose({ guardian: PublicKey.default })], [w.admin]);
    await w.must([pause(guardian)], [guardian]);
    await travel(DAY + WEEK);
    await w.must([apply()], []);
    await w.rejects([open()], [w.caller], 'OpensPaused');
    await w.rejects([update({ liftGuardianPause: true })], [w.admin], 'ChangeMustWait');
    await w.must([propose({ settings: { liftGuardianPause: true } }, 2n)], [w.admin]);
    await w.must([propose({ nextAdmin: accomplice.publicKey }, 3n)], [w.admin]);
    await w.rejects([cancel(guardian, 3n)], [guardian], 'NotAdmin');
    await w.must([cancel(w.admin, 3n)], [w.admin]);
    await travel(DAY);
    await w.must([apply(2n)], []);
    await w.must([open()], [w.caller]);
  });

  it('applies a change of any kind at once without a delay', async () => {
    await begin(0);
    await w.must([pause(guardian)], [guardian]);
    await travel(1n);
    await w.must([update({ liftGuardianPause: true })], [w.admin]);
    await w.must([propose({ guardian: accomplice.publicKey }), apply()], [w.admin]);
    await w.must([propose({ nextAdmin: next.publicKey }, 2n), accept(next, 2n)], [w.admin, next]);
    const { guardian: named, admin: present, adminSince } = await config();
    expect([named, present].map(String)).to.deep.equal([accomplice, next].map(({ publicKey }) => publicKey.toBase58()));
    expect(adminSince).to.equal(START + 1n);
  });

  it('rejects: proposals by others, of invalid settings, and with a used id', async () => {
    const stranger = signedBy(propose({ guardian: next.publicKey }), w.stranger);
    const [settings, key] = [{ feeBps: 1 }, next.publicKey];
    const mixed = [
      { guardian: key, nextAdmin: key },
      { settings, guardian: key },
      { settings, nextAdmin: key },
      { addedRelayAuthorities: [key], nextAdmin: key },
    ];
    for (const change of mixed) await w.rejects([propose(change)], [w.admin], 'MixedChange');
    await w.rejects([propose({ nextAdmin: PublicKey.default })], [w.admin], 'InvalidAuthority');
    await w.rejects([stranger], [w.stranger, w.admin], 'NotAdmin');
    await w.rejects([propose({ settings: { feeBps: 101 } })], [w.admin], 'FeeOutOfBounds');
    await w.rejects([propose({ settings: { tiers: [] } })], [w.admin], 'InvalidTiers');
    await w.rejects([propose({ addedRelayAuthorities: [PublicKey.default] })], [w.admin], 'InvalidRelayAuthorities');
    await w.must([propose({ settings: { feeBps: 1 } })], [w.admin]);
    await w.rejects([propose({ settings: { feeBps: 2 } })], [w.admin], 'system:0');
  });

  it('checks a change again when it is applied, because others may have come first', async () => {
    const relays = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => namedKeypair(`relay ${number}`).publicKey);
    await w.must([propose({ addedRelayAuthorities: relays.slice(0, 4) }, 1n)], [w.admin]);
    await w.must([propose({ addedRelayAuthorities: relays.slice(4) }, 2n)], [w.admin]);
    await w.must([propose({ settings: { minPrice: 20_000n } }, 3n)], [w.admin]);
    await w.must([propose({ settings: { tiers: [{ maxPrice: 19_999n, deposit: 1n }] } }, 4n)], [w.admin]);
    await w.vm.setClock(START + DAY);
    for (const changeId of [1n, 3n]) await w.must([apply(changeId)], []);
    await w.rejects([apply(2n)], [], 'InvalidRelayAuthorities');
    await w.rejects([apply(4n)], [], 'InvalidTiers');
  });
});

/** The same instruction with another first signer. */
function signedBy(instruction: TransactionInstruction, signer: Keypair): TransactionInstruction {
  instruction.keys[0]!.pubkey = signer.publicKey;
  return instruction;
}
