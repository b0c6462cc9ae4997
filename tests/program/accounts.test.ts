/**
 * Every account of every instruction, replaced or weakened in every way that a transaction allows: each such transaction
 * must fail and move nothing. What may differ by design is listed, so that a lost constraint cannot hide.
 */
import { type Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program.ts';
import { TEST_CALLER_ID } from '../harness/outcome.ts';
import { namedKeypair } from '../harness/vm.ts';
import { emptyWorld, type World, world } from '../harness/world.ts';

interface Case {
  /** The instruction is the last; what stands before it is its proof. */
  instructions: TransactionInstruction[];
  signers: Keypair[];
}

const COPIED = 'the same content at another address';
const FOREIGN = 'the same content owned by another program';
/** What differs by design: own token accounts and the mint are chosen freely, and an unreadable grant stops no refund. */
const ALLOWED = new Set([
  `initialize_config.usdc_mint, ${COPIED}`,
  `list_agent.source, ${COPIED}`,
  `list_agent.payout, ${COPIED}`,
  `update_listing.payout, ${COPIED}`,
  `open_execution.source, ${COPIED}`,
  `refund_execution.grant, ${FOREIGN}`,
]);

describe('every account of every instruction', () => {
  const cases: Record<string, (w: World) => Promise<Case>> = {
    initialize_config: async (w) => {
      const instruction = program.initializeConfig(w.configInput());
      return { instructions: [instruction], signers: [w.vm.upgradeAuthority, w.admin] };
    },
    set_creator_verified: async (w) => {
      const [admin, payer, creator] = [w.admin.publicKey, w.relay.publicKey, w.creator.publicKey];
      const instruction = program.setCreatorVerified({ admin, payer, creator, verified: true });
      return { instructions: [instruction], signers: [w.admin, w.relay] };
    },
    list_agent: async (w) => {
      const key = namedKeypair('second key');
      const change = { listingId: new Uint8Array(16).fill(2), signingKey: key.publicKey, payer: w.relay.publicKey };
      return { instructions: w.listInstructions(w.listInput(change), key), signers: [w.creator, w.relay] };
    },
    update_listing: async (w) => {
      const { listing, payout, creator } = w;
      const terms = { ...w.listInput().terms, tagMask: 0b10 };
      const instruction = program.updateListing({ creator: creator.publicKey, listing, payout, terms });
      return { instructions: [instruction], signers: [creator] };
    },
    set_listing_status: async (w) => {
      const { listing, creator } = w;
      const instruction = program.setListingStatus({ creator: creator.publicKey, listing, status: 'paused' });
      return { instructions: [instruction], signers: [creator] };
    },
    create_grant: async (w) => {
      const input = { ...w.grantInput({}, new Uint8Array(16).fill(8)), payer: w.relay.publicKey };
      return { instructions: [program.createGrant(input)], signers: [w.caller, w.relay] };
    },
    revoke_grant: async (w) => {
      const wallet = w.caller.publicKey;
      const instruction = program.revokeGrant({ authority: wallet, wallet, keyId: w.keyId });
      return { instructions: [instruction], signers: [w.caller] };
    },
    open_execution: async (w) => {
      const instruction = program.openExecution(w.openInput({ payer: w.relay.publicKey }));
      return { instructions: [instruction], signers: [w.caller, w.relay] };
    },
    open_execution_with_grant: async (w) => {
      const instruction = program.openExecutionWithGrant(w.openGrantInput({ payer: w.stranger.publicKey }));
      return { instructions: [instruction], signers: [w.relay, w.stranger] };
    },
    settle_execution: async (w) => ({
      instructions: w.settleInstructions(await w.openWithGrant({ payer: w.relay.publicKey })),
      signers: [w.relay],
    }),
    refund_execution: async (w) => ({
      instructions: [w.refundInstruction(await w.openWithGrant())],
      signers: [w.relay],
    }),
  };

  it('has a case for every instruction of the IDL', () => {
    expect(Object.keys(cases).sort()).to.deep.equal(program.idl.instructions.map(({ name }) => name).sort());
  });

  for (const [name, make] of Object.entries(cases)) {
    it(`${name}: no account can be replaced, weakened or forged`, async () => {
      const w = name === 'initialize_config' ? await emptyWorld() : await world();
      const { instructions, signers } = await make(w);
      const definition = program.idl.instructions.find((instruction) => instruction.name === name)!;
      for (const [at, account] of definition.accounts.entries()) {
        for (const [how, forge] of Object.entries(FORGERIES)) {
          const label = `${name}.${account.name}`;
          if (ALLOWED.has(`${label}, ${how}`)) continue;
          const forged = copy(instructions.at(-1)!);
          const undo = await forge(w, forged, at, label);
          if (!undo) continue;
          const present = new Set(forged.keys.filter((key) => key.isSigner).map((key) => key.pubkey.toBase58()));
          const willing = [...signers, w.stranger].filter((signer) => present.has(signer.publicKey.toBase58()));
          try {
            await w.rejects([...instructions.slice(0, -1), forged], willing);
          } catch (error) {
            throw new Error(`${label}, ${how}: ${(error as Error).message}`);
          }
          await undo();
        }
      }
      await w.must(instructions, signers);
    });
  }
});

type Undo = () => Promise<void>;
type Forge = (w: World, forged: TransactionInstruction, at: number, label: string) => Promise<Undo | null>;

const nothing: Undo = async () => {};
const ELSEWHERE = namedKeypair('elsewhere').publicKey;
const COPY = namedKeypair('copied account').publicKey;
const isBuiltIn = (address: PublicKey) =>
  address.equals(SystemProgram.programId) || address.toBase58().startsWith('Sysvar');

/** Each returns how to undo it, or null where it does not apply to the account. */
const FORGERIES: Record<string, Forge> = {
  'an address without an account': async (_, forged, at) => {
    if (forged.keys[at]!.isSigner) return null;
    forged.keys[at]!.pubkey = ELSEWHERE;
    return nothing;
  },
  [COPIED]: async (w, forged, at) => {
    const key = forged.keys[at]!;
    const account = await w.vm.getAccount(key.pubkey);
    if (key.isSigner || !account || account.executable) return null;
    w.vm.setAccount(COPY, account);
    key.pubkey = COPY;
    return async () => w.vm.closeAccount(COPY);
  },
  [FOREIGN]: async (w, forged, at) => {
    const { pubkey, isSigner } = forged.keys[at]!;
    const account = await w.vm.getAccount(pubkey);
    if (isSigner || !account || account.executable || isBuiltIn(pubkey) || account.data.length === 0) return null;
    w.vm.setAccount(pubkey, { ...account, owner: TEST_CALLER_ID });
    return async () => w.vm.setAccount(pubkey, account);
  },
  'the config in its place': async (_, forged, at) => {
    const key = forged.keys[at]!;
    if (key.isSigner || key.pubkey.equals(program.findConfig())) return null;
    key.pubkey = program.findConfig();
    return nothing;
  },
  "another signer's word": async (w, forged, at, label) => {
    const key = forged.keys[at]!;
    if (!key.isSigner || label.endsWith('.payer')) return null;
    key.pubkey = w.stranger.publicKey;
    return nothing;
  },
  'no signature': async (_, forged, at) => {
    const key = forged.keys[at]!;
    // A payer who also signs in another role signs the transaction as a whole.
    const same = forged.keys.filter(({ pubkey, isSigner }) => isSigner && pubkey.equals(key.pubkey));
    if (!key.isSigner || same.length > 1) return null;
    key.isSigner = false;
    return nothing;
  },
  'read only': async (_, forged, at) => {
    const key = forged.keys[at]!;
    const same = forged.keys.filter(({ pubkey, isWritable }) => isWritable && pubkey.equals(key.pubkey));
    if (!key.isWritable || same.length > 1) return null;
    key.isWritable = false;
    return nothing;
  },
};

function copy(instruction: TransactionInstruction): TransactionInstruction {
  const keys = instruction.keys.map((key) => ({ ...key }));
  return Object.assign(Object.create(Object.getPrototypeOf(instruction)), instruction, { keys });
}
