/** The program client's refusals and error codes. tests/program sends what the builders make to the program. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';

describe('sdk/program', () => {
  it('keeps a setting that is not named, and changes one that is zero', () => {
    const admin = program.PROGRAM_ID;
    const settings = { feeBps: 0, minPrice: 0n, disputeBondLamports: 0n, exposureMultiple: 0, adminDelaySeconds: 0 };
    const { args } = program.decodeInstruction(program.updateConfig({ admin, ...settings }).data)!;
    expect(args).to.deep.include({ ...settings, liftGuardianPause: false, recordSeconds: null, tiers: null });
  });

  it('refuses the data of another account type', () => {
    const grant = program.accountDiscriminator('KeyGrant');
    expect(() => program.decodeAccount('ExecutionRecord', grant)).to.throw('discriminator');
  });

  it("knows the program's error codes and no others", () => {
    expect(program.errorFromCode(6000)).to.deep.include({ code: 6000, name: 'NotUpgradeAuthority' });
    for (const { code, name } of program.idl.errors) {
      expect(program.errorFromCode(code)?.name).to.equal(name.charAt(0).toUpperCase() + name.slice(1));
    }
    const last = 5999 + program.idl.errors.length;
    for (const code of [0, 1, 2003, 5999, last + 1]) expect(program.errorFromCode(code)).to.equal(null);
  });
});
