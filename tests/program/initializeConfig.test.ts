/** initialize_config: who may create the marketplace, with which settings, and which accounts it creates. */
import { AccountLayout, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { TEST_CALLER_ID } from '../harness/vm/outcome.ts';
import { plain } from '../harness/vm/plain.ts';
import { emptyWorld, TIERS, USDC, type World } from '../harness/vm/world.ts';

const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const CONFIG_BYTES = 8 + 7 + 3 * 32 + 2 * 8 + 7 * 4 + 2 * 8 + 4 * 16 + 8 * 32 + 64;

describe('initialize_config', () => {
  let w: World;

  beforeEach(async () => {
    w = await emptyWorld();
  });

  const send = (change: Partial<program.InitializeConfigInput> = {}) =>
    w.must([program.initializeConfig(w.configInput(change))], [w.vm.upgradeAuthority, w.admin]);
  const rejects = (change: Partial<program.InitializeConfigInput>, error: string) =>
    w.rejects([program.initializeConfig(w.configInput(change))], [w.vm.upgradeAuthority, w.admin], error);

  it('writes every setting and opens a treasury owned by itself', async () => {
    const [configRent, tokenRent] = [w.vm.rent(CONFIG_BYTES), w.vm.rent(165)];
    w.watch('config', program.findConfig());
    w.watch('unclaimed', program.findUnclaimed());
    await w.moves([program.initializeConfig(w.configInput())], [w.vm.upgradeAuthority, w.admin], {
      admin: { lamports: -(configRent + 2n * tokenRent) },
      treasury: { lamports: tokenRent },
      unclaimed: { lamports: tokenRent },
      config: { lamports: configRent },
    });

    const account = (await w.vm.getAccount(program.findConfig()))!;
    expect(account.data.length).to.equal(CONFIG_BYTES);
    const { authority, payer, relayAuthorities, ...settings } = w.configInput();
    expect(plain(await w.read('Config', program.findConfig()))).to.deep.equal(
      plain({
        ...settings,
        ...{ version: 1, adminPaused: false, guardianPaused: false, longestSpanSeconds: 263_400 },
        ...{ changesValidFrom: 0n, adminSince: 0n, reserved: new Uint8Array(64), tierCount: 4 },
        relayAuthorityCount: 1,
        relayAuthorities: [...relayAuthorities, ...Array(7).fill(PublicKey.default)],
      }),
    );

    const treasury = AccountLayout.decode((await w.vm.getAccount(program.findTreasury()))!.data);
    expect(treasury.mint.toBase58()).to.equal(w.usdcMint.toBase58());
    expect(treasury.owner.toBase58()).to.equal(program.findTreasury().toBase58());
    expect(treasury).to.include({ amount: 0n, state: 1, delegateOption: 0, closeAuthorityOption: 0 });
  });

  for (const [end, settings, longestSpanSeconds] of [
    [
      'lowest',
      {
        ...{ feeBps: 0, minPrice: 10_000n, disputeBondLamports: 0n, disputeWindowSeconds: 259_200 },
        ...{ refundGraceSeconds: 300, maxTimeoutSeconds: 60, recordSeconds: 3_600, exposureMultiple: 0 },
        tiers: [{ maxPrice: 10_000n, deposit: 0n }],
      },
      259_560,
    ],
    [
      'highest',
      {
        ...{ feeBps: 100, minPrice: 1_000_000n, disputeBondLamports: 1_000_000_000n, disputeWindowSeconds: 2_592_000 },
        ...{ refundGraceSeconds: 3_600, maxTimeoutSeconds: 86_400, recordSeconds: 259_200, exposureMultiple: 1_000 },
        tiers: TIERS,
      },
      2_682_000,
    ],
  ] as const) {
    it(`accepts every setting at its ${end}`, async () => {
      await send({ ...settings, tiers: [...settings.tiers] });
      const config = await w.read('Config', program.findConfig());
      const empty = { maxPrice: 0n, deposit: 0n };
      const tiers = [...settings.tiers, ...Array(4 - settings.tiers.length).fill(empty)];
      expect(config).to.deep.include({ ...settings, longestSpanSeconds, tierCount: settings.tiers.length, tiers });
    });
  }

  it("rejects: who is not the upgrade authority, of this program or at all, and another program's authority", async () => {
    const input = w.configInput({ authority: w.stranger.publicKey });
    await w.rejects([program.initializeConfig(input)], [w.stranger, w.admin], 'NotUpgradeAuthority');
    const [other] = PublicKey.findProgramAddressSync([TEST_CALLER_ID.toBytes()], LOADER);
    const address = program.findProgramData();
    const instruction = program.initializeConfig(w.configInput());
    instruction.keys.find((key) => key.pubkey.equals(address))!.pubkey = other;
    await w.rejects([instruction], [w.vm.upgradeAuthority, w.admin], 'WrongProgramData');
    // A program that can no longer be upgraded.
    const account = (await w.vm.getAccount(address))!;
    const data = Uint8Array.from(account.data);
    data.fill(0, 12, 45);
    w.vm.setAccount(address, { ...account, data });
    await rejects({}, 'NotUpgradeAuthority');
  });

  it('rejects: a mint of nine decimals or of the Token-2022 program, a token account and an empty address', async () => {
    w.vm.setMint(w.usdcMint, w.mintAuthority.publicKey, 9);
    await rejects({}, 'InvalidMint');
    w.vm.setMint(w.usdcMint, w.mintAuthority.publicKey, 6, TOKEN_2022_PROGRAM_ID);
    for (const usdcMint of [w.usdcMint, w.wallet(w.caller), namedKeypair('nobody').publicKey]) {
      await rejects({ usdcMint }, 'InvalidMint');
    }
  });

  const OUT_OF_BOUNDS: [Partial<program.InitializeConfigInput>, string][] = [
    [{ feeBps: 101 }, 'FeeOutOfBounds'],
    [{ feeBps: 0xffff }, 'FeeOutOfBounds'],
    [{ minPrice: 9_999n }, 'MinPriceOutOfBounds'],
    [{ minPrice: 1_000_001n }, 'MinPriceOutOfBounds'],
    [{ disputeWindowSeconds: 259_199 }, 'DisputeWindowOutOfBounds'],
    [{ disputeWindowSeconds: 2_592_001 }, 'DisputeWindowOutOfBounds'],
    [{ refundGraceSeconds: 299 }, 'RefundGraceOutOfBounds'],
    [{ refundGraceSeconds: 3_601 }, 'RefundGraceOutOfBounds'],
    [{ maxTimeoutSeconds: 59 }, 'MaxTimeoutOutOfBounds'],
    [{ maxTimeoutSeconds: 86_401 }, 'MaxTimeoutOutOfBounds'],
    [{ recordSeconds: 3_599 }, 'RecordSecondsOutOfBounds'],
    [{ recordSeconds: 259_201 }, 'RecordSecondsOutOfBounds'],
    [{ disputeBondLamports: 1_000_000_001n }, 'BondOutOfBounds'],
    [{ tiers: [] }, 'InvalidTiers'],
    [{ tiers: [...TIERS, { maxPrice: 500n * USDC, deposit: 500n * USDC }] }, 'InvalidTiers'],
    [{ tiers: [{ maxPrice: 9_999n, deposit: USDC }] }, 'InvalidTiers'],
    [{ tiers: [TIERS[1]!, TIERS[0]!] }, 'InvalidTiers'],
    [{ tiers: [TIERS[0]!, { ...TIERS[1]!, maxPrice: TIERS[0]!.maxPrice }] }, 'InvalidTiers'],
    [{ tiers: [TIERS[0]!, { ...TIERS[1]!, deposit: TIERS[0]!.deposit }] }, 'InvalidTiers'],
  ];

  it('rejects: settings one step outside their bounds', async () => {
    for (const [change, error] of OUT_OF_BOUNDS) await rejects(change, error);
  });

  it('rejects: the zero address, which nobody can sign for, as admin or relay authority', async () => {
    await rejects({ admin: PublicKey.default }, 'InvalidAuthority');
    await rejects({ relayAuthorities: [PublicKey.default] }, 'InvalidRelayAuthorities');
  });

  it('accepts eight relay authorities, and rejects zero, nine and a duplicate', async () => {
    const keys = Array.from({ length: 9 }, (_, index) => namedKeypair(`relay ${index}`).publicKey);
    for (const relayAuthorities of [[], keys, [keys[0]!, keys[1]!, keys[0]!]]) {
      await rejects({ relayAuthorities }, 'InvalidRelayAuthorities');
    }
    await send({ relayAuthorities: keys.slice(0, 8) });
    const config = await w.read('Config', program.findConfig());
    expect(plain(program.relayAuthoritiesOf(config))).to.deep.equal(plain(keys.slice(0, 8)));
  });
});
