/** Codama generates a client from the program's IDL. It must type-check, and open, refund and read on a real node. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findCollateral, findExecution } from '../../app/sdk/program/program.ts';
import { installNode, requireTools, run } from '../harness/edge/tools.ts';
import { type Market, NO_KEY, PRICE, startMarket } from '../indexer/market.ts';
import { amountsOf } from '../integrator/idl.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HERE = join(import.meta.dirname, 'clients');
const IDL = join(ROOT, 'app/sdk/program/idl/marketplace.json');
/** TypeScript 7, which takes a third of the time. */
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

describe('a client that Codama generates from the IDL', () => {
  let folder: string;
  let market: Market;
  before(async function () {
    const tools = await installNode('contract-clients', HERE);
    requireTools(this, tools);
    market = await startMarket();
    // Inside the project, so that @solana/kit is found.
    mkdirSync(join(ROOT, 'target'), { recursive: true });
    folder = mkdtempSync(join(ROOT, 'target', 'codama-'));
    const maker = join(folder, 'maker');
    mkdirSync(maker);
    symlinkSync(join(tools.folder, 'node_modules'), join(maker, 'node_modules'));
    copyFileSync(join(HERE, 'codama.mjs'), join(maker, 'codama.mjs'));
    copyFileSync(join(HERE, 'escrow.ts'), join(folder, 'escrow.ts'));
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  });
  after(async () => {
    await market?.node.stop();
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
    const { caller, relay, listing, source, usdcMint, node: chain } = market;
    await market.list();
    const { nonce, executionId, maxPrice, openBefore } = (await market.openInstruction(NO_KEY)).terms;
    const order = {
      rpcUrl: chain.rpcUrl,
      wsUrl: chain.wsUrl,
      callerKey: [...caller.secretKey],
      relayKey: [...relay.secretKey],
      listing,
      collateral: findCollateral(listing),
      record: findExecution(executionId),
      usdcMint,
      funds: source,
      args: {
        nonce: [...nonce],
        executionId: [...executionId],
        maxPrice: Number(maxPrice),
        openBefore: Number(openBefore),
      },
    };
    const funds = async () => (await chain.connection.getTokenAccountBalance(source)).value.amount;
    const before = await funds();
    const { code, output } = await node('--import', 'tsx', 'escrow.ts', JSON.stringify(order));
    expect(code, output).to.equal(0);
    expect(await funds()).to.equal(before);
    const { signature, ...said } = JSON.parse(output.trim().split('\n').at(-1)!);
    expect(said).to.deep.equal({
      statuses: ['Open', 'Refunded', 'Refunded'],
      price: Number(PRICE),
      caller: caller.publicKey.toBase58(),
    });
    expect(await amountsOf(chain.connection, signature)).to.deep.equal([['ExecutionRefunded', String(PRICE)]]);
  });
});
