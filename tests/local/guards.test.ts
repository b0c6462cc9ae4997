/** The guardian and delay that a new marketplace starts with: mainnet requires both, other clusters neither. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { DEVNET_GENESIS, MAINNET_GENESIS } from '../../app/sdk/program/clusters.ts';
import { readGuards } from '../../migrations/deploy.ts';

const LOCAL_GENESIS = Keypair.generate().publicKey.toBase58();

describe('guardian and delay of a new marketplace', () => {
  const admin = Keypair.generate().publicKey;
  const guardian = Keypair.generate().publicKey;
  const GUARDIAN = guardian.toBase58();

  it('are, on mainnet, a guardian other than the admin and at least 24 hours', () => {
    expect(readGuards(MAINNET_GENESIS, admin, { GUARDIAN })).to.deep.equal({ guardian, adminDelaySeconds: 86_400 });
    const asked = { GUARDIAN, ADMIN_DELAY_SECONDS: '172800' };
    expect(readGuards(MAINNET_GENESIS, admin, asked)).to.deep.equal({ guardian, adminDelaySeconds: 172_800 });
  });

  const refused: [string, Parameters<typeof readGuards>[2], string][] = [
    ['a delay below 24 hours', { GUARDIAN, ADMIN_DELAY_SECONDS: '86399' }, 'at least 86400, got 86399'],
    ['a delay in words', { GUARDIAN, ADMIN_DELAY_SECONDS: '24h' }, 'at least 86400, got 24h'],
    ['no guardian', {}, 'Set GUARDIAN to the address'],
    ['the zero address as guardian', { GUARDIAN: PublicKey.default.toBase58() }, 'Set GUARDIAN to the address'],
    ['the admin as guardian', { GUARDIAN: admin.toBase58() }, `must be another address than the admin's, ${admin}`],
  ];
  for (const [what, environment, message] of refused) {
    it(`rejects on mainnet: ${what}`, () => {
      expect(() => readGuards(MAINNET_GENESIS, admin, environment)).to.throw(message);
    });
  }

  for (const [cluster, genesis] of [
    ['devnet', DEVNET_GENESIS],
    ['a local network', LOCAL_GENESIS],
  ] as const) {
    it(`are optional on ${cluster}, and follow the settings if these are set`, () => {
      const none = { guardian: PublicKey.default, adminDelaySeconds: 0 };
      expect(readGuards(genesis, admin, {})).to.deep.equal(none);
      expect(readGuards(genesis, admin, { ADMIN_DELAY_SECONDS: '0' })).to.deep.equal(none);
      const asked = { GUARDIAN: admin.toBase58(), ADMIN_DELAY_SECONDS: '60' };
      expect(readGuards(genesis, admin, asked)).to.deep.equal({ guardian: admin, adminDelaySeconds: 60 });
      expect(() => readGuards(genesis, admin, { ADMIN_DELAY_SECONDS: '-1' })).to.throw('at least 0, got -1');
    });
  }
});
