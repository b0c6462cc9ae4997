/** Cheat codes, which no cluster has. Names and parameters are Surfpool's, if Surfpool has the method. */
import { PublicKey } from '@solana/web3.js';
import { Account } from 'litesvm/dist/internal.js';
import { z } from 'zod';
import { inContext } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import { epochInfo } from './clusterMethods.ts';
import { LOADER } from './loaderJson.ts';
import { address, invalidParams, type Method, parse } from './wire.ts';

const LOADER_KEY = new PublicKey(LOADER);
/** Header of the loader's ProgramData: u32 kind, u64 slot, and the authority as an Option. */
const HEADER_BYTES = 45;
const AUTHORITY_TAG_AT = 12;
const MAX_PROGRAM_BYTES = 10 * 1024 * 1024;

const bytes = z.string().regex(/^(?:[0-9a-fA-F]{2})*$/, 'Invalid hex');
const whole = z.number().int().nonnegative();
const travel = z.union([z.object({ absoluteTimestamp: whole }), z.object({ absoluteSlot: whole })]);

export function cheatMethods(bank: Bank): Record<string, Method> {
  /** Programs being written, until their authority is set. */
  const written = new Map<string, Buffer>();

  function put(key: PublicKey, { lamports, data, owner, executable }: Parts): void {
    bank.setAccount(key, new Account(lamports, data, owner, executable, 0n));
  }

  function load(program: PublicKey, binary: Buffer): void {
    // The VM ends the process if the bytes are not a program.
    if (binary.readUInt32BE(0) !== 0x7f454c46) throw invalidParams('the program is not an ELF file');
    bank.svm.addProgramWithLoader(program.toBytes(), binary, LOADER_KEY.toBytes());
    bank.versions.forget(program.toBase58());
  }

  return {
    /** [address, {lamports?, data? (hex), owner?, executable?}]: absent fields do not change. */
    surfnet_setAccount(params) {
      const change = z.object({
        lamports: whole.optional(),
        data: bytes.optional(),
        owner: address.optional(),
        executable: z.boolean().optional(),
      });
      const [key, { lamports, data, owner, executable }] = parse(z.tuple([address, change]), params);
      const present = bank.svm.getAccount(key.toBytes());
      put(key, {
        lamports: lamports === undefined ? (present?.lamports() ?? 0n) : BigInt(lamports),
        data: data === undefined ? (present?.data() ?? new Uint8Array()) : Buffer.from(data, 'hex'),
        owner: owner?.toBytes() ?? present?.owner() ?? new Uint8Array(32),
        executable: executable ?? present?.executable() ?? false,
      });
      return inContext({ slot: bank.slots.current }, null);
    },
    /**
     * [program, bytes (hex), offset]: writes a part of a program. `surfnet_setProgramAuthority` then creates it.
     */
    surfnet_writeProgram(params) {
      const [program, hex, offset] = parse(z.tuple([address, bytes, whole.max(MAX_PROGRAM_BYTES)]), params);
      const chunk = Buffer.from(hex, 'hex');
      const known = written.get(program.toBase58()) ?? Buffer.alloc(0);
      const binary = Buffer.alloc(Math.max(offset + chunk.length, known.length));
      binary.set(known);
      binary.set(chunk, offset);
      written.set(program.toBase58(), binary);
      return inContext({ slot: bank.slots.current }, null);
    },
    /** [program, authority]: loads the written program and sets its upgrade authority. */
    surfnet_setProgramAuthority(params) {
      const [program, authority] = parse(z.tuple([address, address]), params);
      const binary = written.get(program.toBase58());
      if (binary) load(program, binary);
      written.delete(program.toBase58());
      const [key] = PublicKey.findProgramAddressSync([program.toBytes()], LOADER_KEY);
      const account = bank.svm.getAccount(key.toBytes());
      const data = account && Buffer.from(account.data());
      if (!account || !data || data.length < HEADER_BYTES) throw invalidParams(`there is no program ${program}`);
      data[AUTHORITY_TAG_AT] = 1;
      data.set(authority.toBytes(), AUTHORITY_TAG_AT + 1);
      put(key, { lamports: account.lamports(), data, owner: account.owner(), executable: account.executable() });
      return inContext({ slot: bank.slots.current }, null);
    },
    /** [{absoluteTimestamp: unix ms} | {absoluteSlot}], forward only. Skipped slots move the clock. */
    surfnet_timeTravel(params) {
      const [to] = parse(z.tuple([travel]), params);
      if ('absoluteTimestamp' in to) {
        if (to.absoluteTimestamp < bank.slots.nowMs) throw invalidParams('the clock can only move forward');
        bank.setTime(to.absoluteTimestamp);
      } else {
        if (to.absoluteSlot <= bank.slots.current) throw invalidParams('the clock can only move forward');
        bank.leapTo(to.absoluteSlot);
      }
      return epochInfo(bank, bank.slots.current);
    },
    /** [{lamportsPerByte}]: the rent per byte from now on. */
    surfnet_setRent(params) {
      const [{ lamportsPerByte }] = parse(z.tuple([z.object({ lamportsPerByte: whole })]), params);
      bank.setRent(BigInt(lamportsPerByte));
      return inContext({ slot: bank.slots.current }, null);
    },
    surfnet_getSurfnetInfo: () => inContext({ slot: bank.slots.current }, { runbookExecutions: [] }),
  };
}

interface Parts {
  lamports: bigint;
  data: Uint8Array;
  owner: Uint8Array;
  executable: boolean;
}
