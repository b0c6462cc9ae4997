/**
 * A visitor of a running network, with its demo.json and the published IDL: HTTP requests, a Solana RPC and the
 * commands of the README. Balances are read from the token accounts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import anchor from '@coral-xyz/anchor';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { DemoFile } from '../../app/local/demoFile.ts';
import { runHere } from '../cli/run.ts';
import { untilFound } from '../harness/edge/until.ts';
import { ROOT } from '../local/start.ts';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the test is about
  body: any;
}

/** Base units by wallet, and of `treasury`. */
export type Balances = Record<string, bigint>;

export type Visitor = ReturnType<typeof createVisitor>;

/** `dataDir` is that of the network, where the commands find it. */
export function createVisitor(demo: DemoFile, dataDir: string) {
  const connection = new Connection(demo.rpc_url, { commitment: 'confirmed', wsEndpoint: demo.ws_url });

  /** One request with the key of the first or second demo caller, or without a key. */
  async function send(path: string, caller: number | null, body?: unknown): Promise<Answer> {
    const response = await fetch(`${demo.base_url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(caller === null ? {} : { authorization: `Bearer ${demo.callers[caller]!.api_key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Repeats the request until `isWanted` accepts the answer, because the index follows the chain with a delay. */
  const sendUntil = (path: string, caller: number | null, isWanted: (answer: Answer) => boolean): Promise<Answer> =>
    untilFound(`${path} answers so`, async () => {
      const answer = await send(path, caller);
      return isWanted(answer) ? answer : null;
    });

  const agent = (name: string) => demo.agents.find((candidate) => candidate.name === name)!;
  const usdcOf = (wallet: string) =>
    getAssociatedTokenAddressSync(new PublicKey(demo.usdc_mint), new PublicKey(wallet));

  async function units(tokenAccount: PublicKey): Promise<bigint> {
    return BigInt((await connection.getTokenAccountBalance(tokenAccount, 'confirmed')).value.amount);
  }

  function seeds(...parts: (string | Uint8Array)[]): PublicKey {
    const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    return PublicKey.findProgramAddressSync(bytes, new PublicKey(demo.program_id))[0];
  }
  const recordOf = (executionId: string) => seeds('execution', Buffer.from(executionId.replaceAll('-', ''), 'hex'));

  async function exists(address: PublicKey): Promise<boolean> {
    return (await connection.getAccountInfo(address, 'confirmed')) !== null;
  }

  return {
    demo,
    connection,
    send,
    sendUntil,
    agent,
    usdcOf,
    units,
    seeds,
    recordOf,
    exists,
    execute: (name: string, body: unknown, caller = 0) =>
      send(`/v1/agents/${agent(name).agent_id}/execute`, caller, body),

    /** Balances of both callers, both creators and the treasury. */
    async balances(): Promise<Balances> {
      const creators = [...new Set(demo.agents.map(({ creator }) => creator))];
      const wallets = [...demo.callers.map(({ wallet }) => wallet), ...creators];
      const amounts = await Promise.all(wallets.map((wallet) => units(usdcOf(wallet))));
      return {
        ...Object.fromEntries(wallets.map((wallet, index) => [wallet, amounts[index]!])),
        treasury: await units(new PublicKey(demo.treasury)),
      };
    },

    /**
     * Asserts that only the balances of payer, payee and treasury changed, by exactly the price, the share and the fee.
     */
    assertPaid(before: Balances, after: Balances, name: string, price: bigint, caller = 0): void {
      const fee = price / 100n;
      const expected = { ...before };
      expected[demo.callers[caller]!.wallet]! -= price;
      expected[agent(name).creator]! += price - fee;
      expected.treasury! += fee;
      expect(after).to.deep.equal(expected);
    },

    async lamports(address: PublicKey): Promise<bigint> {
      return BigInt(await connection.getBalance(address, 'confirmed'));
    },

    /** The record, decoded by Anchor with the published IDL. */
    // biome-ignore lint/suspicious/noExplicitAny: an integrator without generated types
    async readRecord(executionId: string): Promise<any> {
      const idl = JSON.parse(readFileSync(join(ROOT, 'app', 'sdk', 'program', 'idl', 'marketplace.json'), 'utf8'));
      const program = new anchor.Program(idl, { connection } as anchor.Provider);
      // biome-ignore lint/suspicious/noExplicitAny: without types, accounts are not known by name
      return (program.account as any).executionRecord.fetch(recordOf(executionId));
    },

    escrowExists: (executionId: string): Promise<boolean> => exists(seeds('escrow', recordOf(executionId).toBytes())),

    /** Runs a command as a person does, with only DATA_DIR set. A null keypair is for commands without a signer. */
    async command(keypairPath: string | null, ...words: string[]) {
      const signed = keypairPath === null ? [] : ['--keypair', keypairPath];
      const { code, stdout, stderr } = await runHere([...words, ...signed, '--json'], { DATA_DIR: dataDir });
      expect(code, stderr).to.equal(0);
      return JSON.parse(stdout);
    },
  };
}
