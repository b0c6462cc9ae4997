/**
 * `archive run` and `rebuild`, and `execution show` of an archived call, on a real node: everything that a stranger can do
 * and verify without trusting anybody.
 */
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../app/relay/start.ts';
import * as program from '../../app/sdk/program/program.ts';
import { formatUuid } from '../../app/sdk/receipt/receipt.ts';
import { openSession } from '../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import type { ExecutionArchive } from '../../app/sdk/wire/wire.ts';
import { useServers } from '../harness/edge/listen.ts';
import { run } from '../harness/edge/tools.ts';
import { until } from '../harness/edge/until.ts';
import type { OpenedExecution } from '../indexer/market.ts';
import { ROOT } from '../local/start.ts';
import { type Stage, startStage } from '../relay/sweeper/sweepStage.ts';
import { runHere, useTerminal } from './run.ts';

const FEE = 5_000;

describe('the command line: the archive', function () {
  this.timeout(600_000);
  let stage: Stage;
  const terminal = useTerminal(() => stage.node.rpcUrl);
  let relay: RunningRelay;
  let executions: OpenedExecution[];
  const stranger = Keypair.generate();

  before(async () => {
    stage = await startStage();
    await stage.node.fundSol(stranger.publicKey, 10e9);
    executions = await stage.settled(2);
    const refunded = await stage.open();
    await stage.refund(refunded, 'unserved');
    executions.push(refunded);
  });
  after(async () => {
    await relay?.stop();
    await stage?.stop();
  });

  const idOf = (at: number): string => formatUuid(executions[at]!.executionId);
  const recordLamports = async (): Promise<number> => {
    const accounts = await stage.connection.getMultipleAccountsInfo(
      executions.map(({ executionId }) => program.findExecution(executionId)),
      'confirmed',
    );
    return accounts.reduce((sum, account) => sum + (account?.lamports ?? 0), 0);
  };
  const balances = async () => ({
    caller: await stage.lamports(stage.caller.publicKey),
    relay: await stage.lamports(stage.relay.publicKey),
    stranger: await stage.lamports(stranger.publicKey),
  });

  it('run archives nothing before an hour is over, and does not pay for a tree without consent', async () => {
    const before = await balances();
    expect(await terminal.done(stranger, 'archive', 'run')).to.deep.equal({
      archived: 0,
      closed: 0,
      returned_lamports: 0,
      trees_made: 0,
      transactions: [],
    });
    await stage.pass();
    expect(await terminal.refused(stranger, 'archive', 'run')).to.include('--make-tree');
    expect(await balances()).to.deep.equal(before);
  });

  it('run lets a stranger return all rent, and the stranger pays for the tree and the fees', async () => {
    const before = await balances();
    const rent = await recordLamports();
    const done = await terminal.done(stranger, 'archive', 'run', '--make-tree');
    expect(done).to.include({ archived: 2, closed: 1, returned_lamports: rent, trees_made: 1 });
    expect(done.transactions).to.have.length(3);
    const { connection } = stage;
    const cost =
      (await connection.getMinimumBalanceForRentExemption(program.constants.archiveTreeBytes)) +
      (await stage.lamports(program.findArchive(0)));
    expect(await balances()).to.deep.equal({
      ...before,
      caller: before.caller + rent,
      stranger: before.stranger - cost - 3 * FEE,
    });
    expect(await stage.recordsLeft(executions)).to.equal(0);
    expect(await terminal.done(stranger, 'archive', 'run')).to.include({ archived: 0, closed: 0 });
  });

  const show = (at: number, service: string) =>
    runHere(['execution', 'show', idOf(at), '--base-url', service, '--rpc-url', stage.node.rpcUrl, '--json']);

  it("execution show checks on-chain the relay's proof of a record that a stranger archived", async () => {
    relay = await stage.relayHere({ ARCHIVE: 'off' });
    const path = `/v1/executions/${idOf(0)}/archive`;
    await until('the proof is shown', async () => (await fetch(relay.url + path)).status === 200);
    const shown = (await (await fetch(relay.url + path)).json()) as ExecutionArchive;

    expect(shown).to.include({ tree: program.findSeededTree(stranger.publicKey, 0).toBase58() });
    const { code, stdout, stderr } = await show(0, relay.url);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.include({
      execution_id: idOf(0),
      source: 'leaf',
      status: 'completed',
      caller: stage.caller.publicKey.toBase58(),
      price_usdc: '0.25',
    });

    const { token } = await openSession({ baseUrl: relay.url }, keypairSigner(stage.caller));
    const read = async (at: number) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${relay.url}/v1/executions/${idOf(at)}`, { headers })).json();
    };
    expect(await read(0)).to.deep.include({ status: 'completed', archive: shown });
    expect(((await read(0)) as { on_chain_record: string }).on_chain_record).to.include(`/tx/${shown.transaction}`);
    expect(await read(2)).to.deep.include({ status: 'failed', archive: null });
    expect((await fetch(`${relay.url}/v1/executions/${idOf(2)}/archive`)).status).to.equal(404);
  });

  it('examples/archive.ts proves the same with the SPL package alone', async () => {
    const argv = ['--import', 'tsx', 'examples/archive.ts', idOf(1), relay.url];
    const env = { ...process.env, RPC_URL: stage.node.rpcUrl };
    const { output } = await run(process.execPath, argv, { cwd: ROOT, env });
    expect(output).to.match(/^leaf [01] of \w+: 250000 base units, \{"[Cc]ompleted":\{\}\}\n$/);
  });

  describe('execution show is not deceived by', () => {
    /** Changes the relay's answer into that of a lying service. */
    let lie: (proof: ExecutionArchive) => ExecutionArchive;
    let url: string;
    let honest: string;
    const serve = useServers();
    const liar: RequestListener = async (request, response) => {
      const proof = (await (await fetch(relay.url + request.url)).json()) as ExecutionArchive;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(lie(proof)));
    };
    before(async () => {
      url = await serve(liar);
      honest = (await show(0, relay.url)).stdout;
    });

    const flipped = (hex: string): string => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);
    const flippedByte = (base64: string, at: number): string => {
      const bytes = Buffer.from(base64, 'base64');
      bytes[at]! ^= 1;
      return bytes.toString('base64');
    };
    const LIES: [what: string, lie: typeof lie, said: string][] = [
      ['a changed price', (p) => ({ ...p, fields: flippedByte(p.fields, 164) }), 'does not have'],
      ['fields of another execution', (p) => ({ ...p, fields: flippedByte(p.fields, 5) }), 'is for the record'],
      ['fields that end early', (p) => ({ ...p, fields: Buffer.alloc(8).toString('base64') }), 'not a valid record'],
      ['a changed node', (p) => ({ ...p, proof: [flipped(p.proof[0]!), ...p.proof.slice(1)] }), 'does not have'],
      ['another leaf index', (p) => ({ ...p, leaf_index: p.leaf_index ^ 1 }), 'does not have'],
      ['a leaf that is not there yet', (p) => ({ ...p, leaf_index: 2 }), 'no leaf 2'],
      ['an archive that is not there', (p) => ({ ...p, archive_index: 1 }), 'No archive 1'],
      ['a proof that is too short', (p) => ({ ...p, proof: p.proof.slice(1) }), ''],
    ];
    for (const [what, make, said] of LIES) {
      it(what, async () => {
        lie = make;
        const { code, stdout, stderr } = await show(0, url);
        expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: honest });
        expect(stderr).to.include(said).and.include('The proof is rebuilt');
      });
    }

    it('a false leaf, root or tree, which it reads from the chain anyway', async () => {
      lie = (proof) => ({ ...proof, leaf: flipped(proof.leaf), root: flipped(proof.root), tree: proof.record });
      expect(await show(0, url)).to.deep.equal({ code: 0, stdout: honest, stderr: '' });
    });
  });

  it('rebuild restores the tree from its own transactions, and from a file of its leaves', async () => {
    const file = terminal.path('leaves.ndjson');
    const rebuilt = await terminal.look('archive', 'rebuild', '0', '--out', file);
    expect(rebuilt).to.include({ leaves: 2, leaves_on_chain: 2, is_equal: true });
    expect(rebuilt.root).to.equal(rebuilt.root_on_chain);
    const again = await terminal.look('archive', 'rebuild', '0', '--from', file);
    expect(again).to.deep.equal({ ...rebuilt, leaves_from: 'the given leaves' });

    const published = await terminal.look('archive', 'rebuild', '0', '--from', relay.url);
    expect(published).to.deep.equal(again);
    const page = await fetch(`${relay.url}/v1/archives/0/leaves`);
    expect(await page.text()).to.equal(readFileSync(file, 'utf8'));
    expect(page.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    const tag = { 'if-none-match': page.headers.get('etag')! };
    expect((await fetch(`${relay.url}/v1/archives/0/leaves`, { headers: tag })).status).to.equal(304);
    expect(await (await fetch(`${relay.url}/v1/archives/0/leaves?first=2`)).text()).to.equal('');
    expect((await fetch(`${relay.url}/v1/archives/1/leaves`)).status).to.equal(404);
    expect((await fetch(`${relay.url}/v1/archives/0/leaves?first=x`)).status).to.equal(400);

    const [first, second] = readFileSync(file, 'utf8').trim().split('\n');
    const from = async (text: string) => {
      const words = ['--from', terminal.file('other', text), '--rpc-url', stage.node.rpcUrl];
      const { code, stdout, stderr } = await runHere(['archive', 'rebuild', '0', ...words]);
      expect(code, text).to.equal(1);
      return stdout + stderr;
    };
    expect(await from(`${first}\n`)).to.include('is_equal: false');
    expect(await from(`${second}\n`)).to.include('The leaf 0 is missing');
    expect(await from('junk\n')).to.include('is not a leaf');
    expect((await runHere(['archive', 'rebuild', '1', '--rpc-url', stage.node.rpcUrl])).stderr).to.include(
      'No archive 1',
    );
  });
});
