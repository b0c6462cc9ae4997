/** Which accounts Anchor finds itself, and which an integrator has to name, read from the IDL alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type anchor from '@coral-xyz/anchor';
import { expect } from 'chai';
import { camelCase, idl, NAMED } from './idl.ts';

type Account = anchor.Idl['instructions'][number]['accounts'][number] & {
  address?: string;
  signer?: boolean;
  pda?: { seeds: { kind: string; path?: string }[] };
  relations?: string[];
};

/**
 * The accounts that Anchor's resolver cannot find. It finds fixed addresses, the provider's wallet for signers, fields
 * of known accounts, and PDAs whose seeds are constants, arguments or known accounts. An account that is part of its
 * own seeds can never be found.
 */
function toBeNamed(accounts: Account[]): string[] {
  const known = new Set<string>();
  const named: string[] = [];
  const isKnown = (path: string) => known.has(path.split('.')[0]!);
  const isFindable = (account: Account): boolean => {
    // For the program's calls to itself, Anchor knows both accounts.
    if (account.address || account.signer || account.name === 'program') return true;
    const { pda, relations } = account;
    if (pda) return pda.seeds.every((seed) => seed.kind !== 'account' || isKnown(seed.path!));
    return relations !== undefined && isKnown(relations[0]!);
  };
  const settle = () => {
    for (let size = -1; size !== known.size; ) {
      size = known.size;
      for (const account of accounts) if (isFindable(account)) known.add(account.name);
    }
  };
  const standsInItsSeeds = ({ name, pda }: Account) => pda?.seeds.some((seed) => seed.path?.split('.')[0] === name);
  const hasNothing = ({ pda, relations }: Account) => !pda && !relations;
  settle();
  for (const account of accounts) {
    if (known.has(account.name) || !(standsInItsSeeds(account) || hasNothing(account))) continue;
    named.push(camelCase(account.name));
    known.add(account.name);
  }
  settle();
  expect(accounts.filter(({ name }) => !known.has(name)).map(({ name }) => name)).to.deep.equal([]);
  return named.sort();
}

const accountsOf = (name: string) =>
  idl.instructions.find((candidate) => camelCase(candidate.name) === name)!.accounts as Account[];

describe('an integrator without the service: accounts that the IDL leaves open', () => {
  for (const [name, named] of Object.entries(NAMED)) {
    it(`${name} leaves ${named.join(', ') || 'none'} of ${accountsOf(name).length} accounts to the integrator`, () => {
      expect(toBeNamed(accountsOf(name))).to.deep.equal(named);
    });
  }

  it('covers every instruction that is signed neither by the relay nor by the admin', () => {
    const officials = ['admin', 'next_admin', 'relay_authority'];
    const changes = ['apply_change', 'cancel_change', 'cancel_all_changes'];
    const owners = ['initialize_config', ...changes, 'set_pause', 'remove_relay_authority'];
    const open = idl.instructions.filter(({ name, accounts }) => {
      return !owners.includes(name) && !accounts.some((account) => officials.includes(account.name));
    });
    expect(open.map(({ name }) => camelCase(name)).sort()).to.deep.equal(Object.keys(NAMED).sort());
  });

  it('nests no account type in another type, because Codama clients cannot load nested ones', () => {
    const accounts = idl.accounts!.map(({ name }) => name);
    const nested = [...JSON.stringify(idl.types).matchAll(/"defined":\{"name":"(\w+)"/g)].map(([, name]) => name!);
    expect(nested).to.include('ExecutionRecordFields');
    expect(nested.filter((name) => accounts.includes(name))).to.deep.equal([]);
  });

  it('has code that imports nothing of this repository except the IDL', () => {
    for (const file of ['refund.ts', 'refundDeposit.ts']) {
      const text = readFileSync(join(import.meta.dirname, '../../examples', file), 'utf8');
      const imports = [...text.matchAll(/^(?:import|\}) .*?['"]([^'"]+)['"]/gm)].map((match) => match[1]!);
      expect(imports).to.include('@coral-xyz/anchor');
      const allowed =
        /^(node:\w+|@coral-xyz\/anchor|@solana\/(web3\.js|spl-token)|chai|(\.\.\/)+app\/sdk\/program\/idl\/marketplace\.(json|ts))$/;
      expect(imports.filter((name) => !allowed.test(name))).to.deep.equal([]);
    }
  });
});
