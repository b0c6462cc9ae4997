/** Instructions that an integrator makes with Anchor and the IDL alone are those of the SDK, which tests/program runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import anchor from '@coral-xyz/anchor';
import {
  type AccountInfo,
  type Connection,
  Keypair,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { expect } from 'chai';
import type { World } from '../harness/vm/world.ts';
import { market } from '../program/generated/parties.ts';
import { SCENARIOS } from '../program/generated/scenarios.ts';
import { camelCase, idl, NAMED, OFFICIAL } from './idl.ts';

/** A connection that reads the VM's accounts, as much as Anchor's resolver needs. */
function connectionTo({ vm }: World): Connection {
  const getAccountInfo = async (address: PublicKey): Promise<AccountInfo<Buffer> | null> => {
    const account = await vm.getAccount(address);
    if (!account) return null;
    const { owner, lamports, data } = account;
    return { owner, lamports: Number(lamports), data: Buffer.from(data), executable: false };
  };
  const getAccountInfoAndContext = async (address: PublicKey) => {
    return { context: { slot: 0 }, value: await getAccountInfo(address) };
  };
  return { getAccountInfo, getAccountInfoAndContext } as unknown as Connection;
}

const readable = ({ programId, keys, data }: TransactionInstruction) => ({
  program: programId.toBase58(),
  accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({ address: pubkey.toBase58(), isSigner, isWritable })),
  data: data.toString('hex'),
});

describe('an integrator without the service: instructions by Anchor and the IDL', () => {
  for (const { name, accounts } of idl.instructions) {
    const named = ({ ...NAMED, ...OFFICIAL } as Record<string, string[]>)[camelCase(name)];
    if (!named) continue;
    it(`${name} needs only ${named.join(', ') || 'no account'} named`, async () => {
      const { w, mine } = await market();
      const ours = await SCENARIOS[name]!(w, mine);
      const addresses = new Map(accounts.map((account, at) => [camelCase(account.name), ours.keys[at]!.pubkey]));
      const signers = ours.keys.slice(0, accounts.length).filter(({ isSigner }) => isSigner);
      // Anchor takes the wallet for every signer, so another one has a name too.
      const wallet = signers[0]?.pubkey ?? mine.caller.publicKey;
      const others = accounts
        .map((account) => camelCase(account.name))
        .filter((_, at) => ours.keys[at]!.isSigner && !ours.keys[at]!.pubkey.equals(wallet));
      const provider = new anchor.AnchorProvider(
        connectionTo(w),
        Object.assign(new anchor.Wallet(Keypair.generate()), { payer: { publicKey: wallet } }),
        {},
      );
      const program = new anchor.Program(idl, provider);
      const args = (program.coder.instruction as anchor.BorshInstructionCoder).decode(ours.data)!.data;
      const theirs = await program.methods[camelCase(name)]!(...Object.values(args))
        .accounts(Object.fromEntries([...named, ...others].map((account) => [account, addresses.get(account)!])))
        .remainingAccounts(ours.keys.slice(accounts.length))
        .instruction();
      expect(readable(theirs)).to.deep.equal(readable(ours));
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
