/** Codama generates a client from the program's IDL. It must type-check, and open, refund and read on a real node. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { installNode, run } from '../harness/edge/tools.ts';
import { executionId, find, nonceOf } from '../integrator/client.ts';
import { listAgent, type Market, startMarket } from '../integrator/market.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HERE = join(import.meta.dirname, 'clients');
const IDL = join(ROOT, 'app/sdk/program/idl/marketplace.json');
/** TypeScript 7, which takes a third of the time. */
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');
const PRICE = 500_000n;

describe('a client that Codama generates from the IDL', () => {
  let folder: string;
  let market: Market;
  before(async function () {
    const { folder: tools, obstacle } = await installNode('contract-clients', HERE);
    if (obstacle !== null) {
      if (process.env.CI) throw new Error(obstacle);
      console.log(`      skipped: ${obstacle}`);
      this.skip();
    }
    market = await startMarket();
    // Inside the project, so that @solana/kit is found.
    mkdirSync(join(ROOT, 'target'), { recursive: true });
    folder = mkdtempSync(join(ROOT, 'target', 'codama-'));
    const maker = join(folder, 'maker');
    mkdirSync(maker);
    symlinkSync(join(tools, 'node_modules'), join(maker, 'node_modules'));
    copyFileSync(join(HERE, 'codama.mjs'), join(maker, 'codama.mjs'));
    copyFileSync(join(HERE, 'escrow.ts'), join(folder, 'escrow.ts'));
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  });
  after(async () => {
    await market?.stop();
    if (folder) rmSync(folder, { recursive: true });
  });

  const node = (...args: string[]) => run(process.execPath, args, { cwd: folder });

  it('type-checks together with a program that uses it', async () => {
    const made = await node('maker/codama.mjs', IDL, 'generated');
    expect(made.code, made.output).to.equal(0);
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: 'es2023', module: 'esnext', moduleResolution: 'bundler' },
      ...{ noUncheckedIndexedAccess: true, skipLibCheck: true, types: ['node'] },
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['escrow.ts', 'generated'] }),
    );
    const checked = await node(TSC, '-p', '.');
    expect(checked.code, checked.output).to.equal(0);
  });

  it('opens, refunds and reads an execution, and encodes the leaves of archives', async () => {
    const { keypairs, parties, usdcMint, node: chain } = market;
    const { caller, creator, relay } = keypairs;
    const listingId = Buffer.alloc(16, 7);
    await listAgent(market, listingId, Keypair.generate(), PRICE);
    const now = await chain.now();
    const nonce = nonceOf(now);
    const id = executionId(caller.publicKey, nonce);
    const listing = find('LISTING_SEED', creator.publicKey.toBytes(), listingId);
    const order = {
      rpcUrl: chain.rpcUrl,
      wsUrl: chain.wsUrl,
      callerKey: [...caller.secretKey],
      relayKey: [...relay.secretKey],
      listing,
      collateral: find('COLLATERAL_SEED', new PublicKey(listing).toBytes()),
      record: find('EXECUTION_SEED', id),
      usdcMint,
      funds: parties.caller,
      args: { nonce: [...nonce], executionId: [...id], maxPrice: Number(PRICE), openBefore: now + 60 },
    };
    const [moves, { code, output }] = await market.moved(() =>
      node('--import', 'tsx', 'escrow.ts', JSON.stringify(order)),
    );
    expect(code, output).to.equal(0);
    expect(moves).to.deep.equal({});
    const { signature, ...said } = JSON.parse(output.trim().split('\n').at(-1)!);
    expect(said).to.deep.equal({
      statuses: ['Open', 'Refunded', 'Refunded'],
      price: Number(PRICE),
      caller: caller.publicKey.toBase58(),
    });
    const { name, data } = await market.clients.stranger.eventOf(signature);
    expect([name, data.amount]).to.deep.equal(['executionRefunded', PRICE]);
  });
});
