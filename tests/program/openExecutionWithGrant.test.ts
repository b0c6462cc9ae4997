/** open_execution_with_grant: the relay spends for an API key, within the wallet's caps. */
import { AccountLayout, createRevokeInstruction } from '@solana/spl-token';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { RECORD_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { GAS, GAS_LAMPORTS, NO_KEY, PRICE, USDC, useWorld } from '../harness/vm/world.ts';

describe('open_execution_with_grant', () => {
  const w = useWorld();

  const open = (change: Partial<program.OpenExecutionWithGrantInput> = {}) =>
    program.openExecutionWithGrant(w.openGrantInput(change));
  const rejects = (error: string, change: Partial<program.OpenExecutionWithGrantInput> = {}) =>
    w.rejects([open(change)], [w.relay], error);
  const address = () => program.findGrant(w.caller.publicKey, w.keyId);
  const grant = () => w.read('KeyGrant', address());
  /** An additional live key of the caller with these limits. */
  const key = async (limits: Partial<program.GrantLimits>, id = 0x31): Promise<{ keyId: Uint8Array }> => {
    const keyId = new Uint8Array(16).fill(id);
    await w.must([program.createGrant(w.grantInput(limits, keyId))], [w.caller]);
    return { keyId };
  };

  it("moves the price from the wallet's associated account and debits the grant", async () => {
    const input = w.openGrantInput({ payer: w.stranger.publicKey });
    const record = program.findExecution(input.executionId);
    const escrow = program.findEscrow(record);
    w.watch('escrow', escrow);
    w.watch('record', record);
    const before = await grant();
    await w.moves([program.openExecutionWithGrant(input)], [w.relay, w.stranger], {
      caller: { usdc: -PRICE },
      stranger: { lamports: -(w.vm.rent(RECORD_BYTES) + w.vm.rent(165)) },
      gasBalance: { lamports: -GAS_LAMPORTS },
      record: { lamports: w.vm.rent(RECORD_BYTES) + GAS_LAMPORTS },
      escrow: { usdc: PRICE, lamports: w.vm.rent(165) },
    });
    expect(plain(await grant())).to.deep.equal(
      plain({
        ...before,
        ...{ periodSpent: PRICE, totalSpent: PRICE },
        ...{ executionCount: 1n, lastOpenedAt: w.vm.now },
      }),
    );
    const by = { caller: w.caller.publicKey, keyId: w.keyId, rentSponsor: w.stranger.publicKey };
    const terms = { executionId: input.executionId, price: PRICE, requestHash: input.requestHash, gasLamports: GAS };
    const written = plain(await w.read('ExecutionRecord', record));
    expect(written).to.deep.include(plain({ ...by, ...terms, status: 'open', refundAt: START + 660n }) as object);
    const wallet = AccountLayout.decode((await w.vm.getAccount(w.wallet(w.caller)))!.data);
    expect(wallet.delegatedAmount).to.equal(500n * USDC - PRICE);
  });

  it('spends exactly the caps of one execution and of all, and nothing from the second of its expiry on', async () => {
    const each = await key({ perExecutionMax: PRICE });
    await w.openWithGrant(each);
    await w.overwrite('KeyGrant', program.findGrant(w.caller.publicKey, each.keyId), { perExecutionMax: PRICE - 1n });
    await rejects('GrantPerExecutionExceeded', each);
    const total = await key({ totalMax: 2n * PRICE, periodSeconds: 1 }, 0x32);
    const brief = await key({ expiresAt: START + 1_000n }, 0x33);
    await w.openWithGrant(total);
    await w.vm.setClock(START + 999n);
    for (const some of [total, brief]) await w.openWithGrant(some);
    await w.vm.setClock(START + 1_000n);
    await rejects('GrantTotalExceeded', total);
    await rejects('GrantExpired', brief);
  });

  it('spends exactly the cap of a period, and restarts in the first second of the next', async () => {
    const limits = await key({ periodMax: 2n * PRICE, periodSeconds: 100, totalMax: 100n * PRICE });
    const limited = program.findGrant(w.caller.publicKey, limits.keyId);
    await w.openWithGrant(limits);
    await w.vm.setClock(START + 99n);
    await w.openWithGrant(limits);
    await rejects('GrantPeriodExceeded', limits);
    await w.vm.setClock(START + 100n);
    await w.openWithGrant(limits);
    expect(await w.read('KeyGrant', limited)).to.include({ periodStart: START + 100n, periodSpent: PRICE });
    // Periods count from created_at without gaps, whenever the next execution comes.
    await w.vm.setClock(START + 1_050n);
    await w.openWithGrant(limits);
    const after = await w.read('KeyGrant', limited);
    expect(after).to.include({ periodStart: START + 1_000n, periodSpent: PRICE, totalSpent: 4n * PRICE });
  });

  it('rejects: an approval that is too small, of another delegate, revoked, or missing', async () => {
    await w.must([w.approveInstruction(PRICE - 1n)], [w.caller]);
    await rejects('InsufficientAllowance');
    await w.must([w.approveInstruction(PRICE)], [w.caller]);
    await w.openWithGrant();
    await rejects('InsufficientAllowance');
    const account = { mint: w.usdcMint, owner: w.caller.publicKey, amount: 10n * USDC };
    const spender = program.findSpender(w.stranger.publicKey);
    w.vm.setTokenAccount(w.wallet(w.caller), { ...account, delegate: spender, delegatedAmount: 10n * USDC });
    await rejects('InsufficientAllowance');
    await w.must([w.approveInstruction()], [w.caller]);
    await w.must([createRevokeInstruction(w.wallet(w.caller), w.caller.publicKey)], [w.caller]);
    await rejects('InsufficientAllowance');
  });

  it('rejects: too little USDC, and an associated account that the wallet gave away', async () => {
    const wallet = w.wallet(w.caller);
    const delegate = program.findSpender(w.caller.publicKey);
    const account = { mint: w.usdcMint, owner: w.caller.publicKey, delegate, delegatedAmount: 10n * USDC };
    w.vm.setTokenAccount(wallet, { ...account, amount: PRICE - 1n });
    await rejects('InsufficientBalance');
    w.vm.setTokenAccount(wallet, { ...account, amount: PRICE });
    await w.openWithGrant();
    expect(await w.vm.tokens(wallet)).to.equal(0n);
    w.vm.setTokenAccount(wallet, { ...account, amount: 10n * USDC, owner: w.stranger.publicKey });
    await rejects('InvalidSource');
  });

  it('rejects: a signer other than the relay authority, even the wallet, and a grant without a key', async () => {
    // A grant of the zero key would look like an open by the wallet.
    await w.rejects([program.createGrant(w.grantInput({}, NO_KEY))], [w.caller], 'InvalidKeyId');
    for (const who of [w.caller, w.stranger, w.admin]) {
      const forged = open({ relayAuthority: who.publicKey, payer: who.publicKey });
      await w.rejects([forged], [who], 'NotRelayAuthority');
    }
  });

  it('rejects: a grant whose period spend exceeds its total spend, and a spend out of range', async () => {
    await w.overwrite('KeyGrant', address(), { periodSpent: 1n, totalSpent: 0n });
    await rejects('GrantOverspent');
    const huge = 2n ** 64n - 1n;
    await w.overwrite('KeyGrant', address(), { periodSpent: huge, totalSpent: huge, periodMax: huge, totalMax: huge });
    await rejects('ArithmeticOverflow');
  });
});
