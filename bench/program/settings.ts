/** The steps before the first call: the marketplace's settings and roles, and a listing. */
import type { Keypair } from '@solana/web3.js';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../../tests/harness/vm/keys.ts';
import { START } from '../../tests/harness/vm/vm.ts';
import { NO_LIMIT, possessionOf, USDC, type World } from '../../tests/harness/vm/world.ts';
import type { Step } from './measure.ts';

/** The founder sets the marketplace up and hands it over to admin and relay. */
export async function* settings(w: World): AsyncGenerator<Step> {
  const { admin, creator } = w;
  const founder = w.vm.upgradeAuthority;
  await w.vm.airdrop(founder.publicKey, 1_000_000_000n);
  const roles = { payer: founder.publicKey, admin: founder.publicKey, relayAuthorities: [founder.publicKey] };
  const initialize = program.initializeConfig(w.configInput(roles));
  yield { name: 'initialize_config', instructions: [initialize], signers: [founder] };
  const update = program.updateConfig({ admin: founder.publicKey, feeBps: 100, refundGraceSeconds: 600 });
  yield { name: 'update_config', instructions: [update], signers: [founder] };
  yield* changes(w, founder);
  for (const isPaused of [true, false]) {
    const pause = program.setPause({ authority: admin.publicKey, isPaused });
    yield { name: `set_pause (${isPaused ? 'pause' : 'resume'})`, instructions: [pause], signers: [admin] };
  }
  const verified = { admin: admin.publicKey, payer: admin.publicKey, creator: creator.publicKey, verified: true };
  yield { name: 'set_creator_verified', instructions: [program.setCreatorVerified(verified)], signers: [admin] };
}

/** The founder hands the roles over by proposed changes. The clock moves between changes that cancel each other. */
async function* changes(w: World, founder: Keypair): AsyncGenerator<Step> {
  const { admin, relay } = w;
  const propose = (by: Keypair, changeId: bigint, change: Partial<program.ProposeChangeInput>) =>
    program.proposeChange({ admin: by.publicKey, payer: by.publicKey, changeId, ...change });
  const handover = propose(founder, 1n, { nextAdmin: admin.publicKey });
  yield { name: 'propose_change (admin)', instructions: [handover], signers: [founder] };
  const founders = { changeId: 1n, rentSponsor: founder.publicKey };
  const accept = program.acceptAdmin({ nextAdmin: admin.publicKey, ...founders });
  yield { name: 'accept_admin', instructions: [accept], signers: [admin] };

  await w.vm.setClock(START + 1n);
  const settings = { feeBps: 100, exposureMultiple: 0 };
  const add = propose(admin, 2n, { settings, addedRelayAuthorities: [relay.publicKey] });
  yield { name: 'propose_change', instructions: [add], signers: [admin] };
  const apply = program.applyChange({ changeId: 2n, rentSponsor: admin.publicKey });
  yield { name: 'apply_change', instructions: [apply], signers: [relay] };
  await w.must([propose(admin, 3n, { settings })], [admin]);
  const cancel = program.cancelChange({ authority: admin.publicKey, changeId: 3n, rentSponsor: admin.publicKey });
  yield { name: 'cancel_change', instructions: [cancel], signers: [admin] };
  const all = program.cancelAllChanges({ authority: admin.publicKey });
  yield { name: 'cancel_all_changes', instructions: [all], signers: [admin] };
  const removal = { authority: admin.publicKey, relayAuthority: founder.publicKey };
  const remove = program.removeRelayAuthority(removal);
  yield { name: 'remove_relay_authority', instructions: [remove], signers: [admin] };
}

export async function* listing(w: World): AsyncGenerator<Step> {
  const { creator } = w;
  const own = { creator: creator.publicKey, listing: w.listing };
  yield { name: 'list_agent', instructions: [w.listInstruction()], signers: [creator] };
  const terms = { ...w.listInput().terms, tagMask: 0b11 };
  const update = program.updateListing({ ...own, payout: w.payout, maxDeposit: NO_LIMIT, terms });
  yield { name: 'update_listing', instructions: [update], signers: [creator] };
  for (const status of ['paused', 'active'] as const) {
    const change = program.setListingStatus({ ...own, status });
    yield { name: `set_listing_status (${status})`, instructions: [change], signers: [creator] };
  }
  const keys = { new: namedKeypair('next signing key'), earlier: w.signingKey };
  for (const [which, key] of Object.entries(keys)) {
    const proved = { signingKey: key.publicKey, possession: possessionOf(key, w.listing) };
    const rotate = program.rotateSigningKey({ ...own, payer: creator.publicKey, ...proved });
    yield { name: `rotate_signing_key (${which})`, instructions: [rotate], signers: [creator] };
  }
  const topUp = program.topUpCollateral({ ...own, source: w.wallet(creator), amount: 10n * USDC });
  yield { name: 'top_up_collateral', instructions: [topUp], signers: [creator] };
}
