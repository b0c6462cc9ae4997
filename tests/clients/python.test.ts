/** The Python package on a real marketplace: the programs of its README.md, the table of behaviours, receipts, kits. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createClient } from '../../app/sdk/client/client.ts';
import { callKeyId, KEY_DIRECTORY_PATH, type PublicJwk, signCall } from '../../app/sdk/creator/callSignature.ts';
import {
  createCreatorServer,
  ExecutionFailure,
  generateSigningKey,
  loadSigningKey,
  saveSigningKey,
  signingKeyAddress,
} from '../../app/sdk/creator/creator.ts';
import idl from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { constants, findTokenAccount, PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { type Check, type VerifyOptions, verifyReceipt } from '../../app/sdk/receipt/verify.ts';
import { createKey } from '../../app/sdk/wallet/apiKeys.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import vectors from '../../examples/vectors.json' with { type: 'json' };
import { generatePythonFiles, readPythonFiles } from '../../scripts/pythonClient.ts';
import {
  dearer,
  flipped,
  grownProofs,
  PROOF_CHANGES,
  type Proof,
  RECEIPT_CHANGES,
  showsData,
} from '../cli/receiptChanges.ts';
import { named } from '../cli/receiptStage.ts';
import { useTerminal } from '../cli/run.ts';
import { listen } from '../harness/edge/listen.ts';
import { requireTools, run } from '../harness/edge/tools.ts';
import { until, untilFound } from '../harness/edge/until.ts';
import { freePort } from '../harness/freePort.ts';
import { FEE, PRICE, type TestCaller, type TestMarketplace } from '../harness/node/marketplace.ts';
import { startRpcProxy } from '../harness/node/rpcProxy.ts';
import { behavesAsTheTableSays, type Outcome, type Program, startScene } from './behaviours.ts';
import { buildPackage, installTools, type PythonPackage, SOURCE } from './package.ts';
import { paysFromAWallet, SERVICE_FEE } from './purchases.ts';
import quotes from './quotes.json' with { type: 'json' };

const HERE = import.meta.dirname;

/** The checks that the package makes too: it checks the record, and leaves the transactions to the other clients. */
const withoutTransactions = (checks: Check[]): Check[] =>
  checks
    .filter(({ name }) => name !== 'opening' && name !== 'settlement')
    .map((check) => ({ ...check, compared: check.compared.filter(({ what }) => what !== 'archive.transaction') }));

const inTypeScript = async (receipt: unknown, options: VerifyOptions): Promise<Check[]> =>
  withoutTransactions(await verifyReceipt(receipt, options));

describe('clients/python', () => {
  let bin: string;
  let python: PythonPackage;
  let market: TestMarketplace;
  before(async function () {
    const tools = await installTools();
    requireTools(this, tools);
    bin = join(tools.folder, 'bin');
    [python, market] = await Promise.all([buildPackage(bin), startScene({ ARCHIVE: 'off' }, Keypair.generate())]);
  });
  after(async () => {
    python?.stop();
    await market?.stop();
  });

  const answersOf = async (script: string, args: string[], input: unknown) => {
    const { code, output, stdout } = await python.finish([join(HERE, script), ...args], {}, JSON.stringify(input));
    expect(code, output).to.equal(0);
    return JSON.parse(stdout);
  };
  const programOf =
    (kind: string): Program =>
    (entries) =>
      answersOf('behaviours.py', [kind], entries) as Promise<Outcome[]>;
  const asUser = () => ({ MARKETPLACE_URL: market.relay.url, MARKETPLACE_API_KEY: market.callers[0]!.apiKey });

  /** Creates a key whose only scope is to manage the webhooks of the caller's wallet. */
  const webhookKey = async ({ wallet }: TestCaller): Promise<string> => {
    const options = { name: 'webhooks', limits: market.limits, restrictions: { scopes: ['webhooks' as const] } };
    return (await createKey(market.marketplace, { wallet: keypairSigner(wallet), ...options })).api_key;
  };

  describe('the package', () => {
    it('has types that mypy --strict accepts in its own code and in programs, and that find a mistake', async () => {
      const names = 'quote wallet caller caller_async follow verify endpoint receiver creator service';
      const programs = names.split(' ').map((name) => join(python.folder, `${name}.py`));
      const wrong = join(python.folder, 'wrong.py');
      writeFileSync(wrong, 'from paid_agents import Client\nClient("x").agents.run("a", task=1)\n');
      // All at once, because reading the types of other packages takes most of the time.
      const options = ['--strict', '--python-executable', python.python, '--cache-dir', join(python.folder, 'mypy')];
      const { code, output } = await run(join(bin, 'mypy'), [...options, 'src', wrong, ...programs], { cwd: SOURCE });
      expect(code, output).to.equal(1);
      const [mistake, count, ...others] = output.trim().split('\n');
      expect(mistake).to.match(
        /wrong\.py:2: error: Argument "task" to "run" of "Agents" .*; expected "str" {2}\[arg-type\]$/,
      );
      expect([/^Found 1 error in 1 file /.test(count!), others], output).to.deep.equal([true, []]);
    });

    it('is formatted and linted by ruff, as are its programs for tests', async () => {
      const settings = ['--config', join(SOURCE, 'pyproject.toml')];
      const ours = [
        SOURCE,
        ...['behaviours', 'checks', 'endpoints', 'kit', 'pure', 'transports'].map((name) => join(HERE, `${name}.py`)),
      ];
      for (const words of [['format', '--check'], ['check']]) {
        const { code, output } = await run(join(bin, 'ruff'), [...words, ...settings, ...ours], { cwd: SOURCE });
        expect(code, output).to.equal(0);
      }
    });

    it('contains its code, its types, its license and nothing else', async () => {
      const list =
        'import sys, tarfile, zipfile; f = sys.argv[1]; ' +
        'print("\\n".join(zipfile.ZipFile(f).namelist() if f.endswith("whl") else tarfile.open(f).getnames()))';
      const wheel = (await python.finish(['-c', list, python.wheel])).stdout.trim().split('\n');
      expect(wheel).to.include('paid_agents/py.typed');
      expect(wheel.some((name) => name.endsWith('licenses/LICENSE'))).to.equal(true);
      for (const name of wheel) expect(name).to.match(/^paid_agents(-0\.1\.0\.dist-info)?\/[\w/.]+$/);
      const sdist = (await python.finish(['-c', list, python.sdist])).stdout.trim().split('\n');
      for (const name of sdist) {
        expect(name).to.match(
          /^paid_agents-0\.1\.0\/(src\/.*\.(py|typed)|README\.md|LICENSE|pyproject\.toml|PKG-INFO|\.gitignore)$/,
        );
      }
    });

    it('has the answers of the OpenAPI document, and a blocking client that is made from the one for asyncio', () => {
      expect(readPythonFiles(), 'run npm run build:client').to.deep.equal(generatePythonFiles());
    });

    it('computes what examples/vectors.json and the IDL say', async () => {
      const { code, output } = await python.finish(
        [join(HERE, 'pure.py')],
        {},
        JSON.stringify({ vectors, idl, quotes }),
      );
      expect(code, output).to.equal(0);
    });

    it('sends what it is told, once, and shows no secret', async () => {
      const { code, output } = await python.finish([join(HERE, 'transports.py')]);
      expect(code, output).to.equal(0);
    });
  });

  // The blocking client is made from the one for asyncio, so each table is run for one of them.
  behavesAsTheTableSays('async', () => market, programOf('async'));
  paysFromAWallet('sync', () => market, programOf('sync'));

  describe('its README', () => {
    it('leads to a first paid call, with the exact payment and fee', async () => {
      const before = await market.balances();
      const { code, output, stdout } = await python.finish(['caller.py'], asUser());
      expect(code, output).to.equal(0);
      expect(stdout).to.include('paid 0.25 USDC');
      const after = await market.balances();
      expect(before.callers[0]! - after.callers[0]!).to.equal(PRICE);
      expect(after.treasury - before.treasury).to.equal(FEE);
    });

    it('leads to a first agent, which is listed and paid, and its receipt is verified against the node', async () => {
      const { lines } = await serve('creator:app');
      const agentId = await market.list({ name: 'python-agent', endpoint: `${url(lines)}/execute`, signingKey: key() });
      const before = await market.balances();
      const task = 'to be or not to be';
      const calls = [entry(agentId, { task, deltas: true }), entry(agentId, { task: '???' })];
      const [paid, failed] = await programOf('sync')(calls);
      expect(paid!.deltas).to.deep.equal(['6 words']);
      expect(paid!.result, JSON.stringify(paid)).to.include({
        status: 'completed',
        result: '[["to", 2], ["be", 2], ["or", 1]]',
        cost_usdc: '0.25',
      });
      expect((await market.balances()).creator - before.creator).to.equal(PRICE - FEE);
      expect(failed!.error).to.include({ code: 'execution_failed' });
      expect(failed!.error!.message).to.include('the task has no words');

      const env = { ...asUser(), SOLANA_RPC_URL: market.node.rpcUrl };
      const verified = await python.finish(['verify.py', paid!.result!.execution_id as string], env);
      expect(verified.code, verified.output).to.equal(0);
      expect(verified.stdout).to.match(/^record passed/m);

      const unsigned = await fetch(`${url(lines)}/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      expect([unsigned.status, await unsigned.json()]).to.deep.equal([
        401,
        { error: { code: 'unauthorized', message: 'the call has no valid signature of the marketplace' } },
      ]);
    });

    it('mounts the agent in FastAPI, where it is paid too', async () => {
      writeFileSync(join(python.folder, 'signing.json'), JSON.stringify([...generateSigningKey()]), { mode: 0o600 });
      const { lines } = await serve('service:app');
      const endpoint = `${url(lines)}/agent/execute`;
      const agentId = await market.list({ name: 'mounted-agent', endpoint, signingKey: key() });
      const client = createClient({ baseUrl: market.relay.url, apiKey: market.callers[0]!.apiKey });
      const paid = await client.request('executeAgent', { agent_id: agentId, body: { task: 'a b a' } });
      expect(paid).to.include({ status: 'completed', result: '[["a", 2], ["b", 1]]' });
    });

    it('calls every agent with asyncio', async () => {
      const { code, output, stdout } = await python.finish(['caller_async.py'], asUser());
      expect(code, output).to.equal(0);
      expect(stdout).to.match(/^paid: done: Say hello$/m);
    });

    it('follows an execution to its end', async () => {
      const { code, output, stdout } = await python.finish(['follow.py', market.agentId], asUser());
      expect(code, output).to.equal(0);
      const types = stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ').at(-1));
      expect(types).to.deep.equal(['execution.pending', 'execution.running', 'execution.completed']);
    });

    it('pays from a wallet that has no key and no SOL', async () => {
      const wallet = Keypair.generate();
      await market.mintTo(wallet.publicKey, 1_000_000n);
      writeFileSync(join(python.folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
      const env = {
        MARKETPLACE_URL: market.relay.url,
        SOLANA_RPC_URL: market.node.rpcUrl,
        USDC_MINT: market.usdcMint.toBase58(),
      };
      const { code, output, stdout } = await python.finish(['wallet.py', market.agentId], env);
      expect([code, stdout], output).to.deep.equal([0, 'done: Say hello\n']);
      const left = await market.amountOf(findTokenAccount(wallet.publicKey, market.usdcMint));
      expect(left).to.equal(1_000_000n - PRICE - SERVICE_FEE);
    });

    it('checks quotes before they are paid', async () => {
      const check = (quote: object) =>
        python.finish(['quote.py', JSON.stringify(quotes.purchase)], {}, JSON.stringify(quote));
      const good = await check(quotes.quote);
      expect([good.code, good.stdout]).to.deep.equal([
        0,
        `pays ${quotes.checked.amount} base units to the deposit ${quotes.checked.deposit}\n`,
      ]);
      const bad = await check({ ...quotes.quote, payTo: quotes.purchase.payer });
      expect([bad.code, bad.output]).to.deep.equal([1, 'not paid: payTo is wrong\n']);
    });

    it('adds a webhook endpoint, receives webhooks, and refuses unsigned ones', async () => {
      const port = await freePort();
      const address = `http://127.0.0.1:${port}/webhooks`;
      const env = { MARKETPLACE_URL: market.relay.url, MARKETPLACE_API_KEY: await webhookKey(market.callers[0]!) };
      const added = await python.finish(['endpoint.py', address], env);
      expect(added.code, added.output).to.equal(0);
      const [, endpointId, secret] = /^(we_\w+) (whsec_\S+)\n$/.exec(added.stdout)!;
      const { lines } = await serve('receiver:app', { WEBHOOK_SECRET: secret }, port);
      const client = createClient({ baseUrl: market.relay.url, apiKey: market.callers[0]!.apiKey });
      const { execution_id } = await client.request('executeAgent', {
        agent_id: market.agentId,
        body: { task: 'reported' },
      });
      const reported = () => lines.filter((line) => line.includes(execution_id)).map((line) => line.split(' ')[0]);
      await until('the end is reported', () => reported().length > 0);
      expect(reported()).to.deep.equal(['execution.completed']);
      await createClient({ baseUrl: market.relay.url, apiKey: env.MARKETPLACE_API_KEY }).request('deleteWebhook', {
        endpoint_id: endpointId!,
      });

      const send =
        'import sys, datetime, json, httpx, standardwebhooks\n' +
        'url, secret, body = sys.argv[1:]\n' +
        'now = datetime.datetime.now(datetime.timezone.utc)\n' +
        'signature = standardwebhooks.Webhook(secret).sign("msg_1", now, body)\n' +
        'headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signature}\n' +
        'for extra in ({}, {}, {"webhook-signature": "v1,AAAA"}, {"webhook-signature": "?"}, {"webhook-timestamp": "1"}):\n' +
        '    print(httpx.post(url, content=body, headers={**headers, **extra}).status_code)\n' +
        'print(httpx.post(url, content=body).status_code)\n';
      const body = JSON.stringify({ type: 'execution.completed', timestamp: '2026-01-01T00:00:00Z', data: { a: 'ü' } });
      const sent = await python.finish(['-c', send, address, secret!, body]);
      expect(sent.stdout.trim().split('\n'), sent.output).to.deep.equal(['200', '200', '400', '400', '400', '400']);
      expect(lines.filter((line) => line === "execution.completed {'a': 'ü'}")).to.have.length(1);
    });

    const serve = (app: string, env: NodeJS.ProcessEnv = {}, port = 0) =>
      python.start(['-m', 'uvicorn', app, '--port', String(port)], /Uvicorn running on (\S+)/, { ...asUser(), ...env });
    const url = (lines: string[]): string => /Uvicorn running on (\S+)/.exec(lines.join('\n'))![1]!;
    const key = (): Uint8Array => loadSigningKey(join(python.folder, 'signing.json'));
    const entry = (agent: string, call: object) => ({
      base_url: market.relay.url,
      api_key: market.callers[0]!.apiKey,
      call: { method: 'agents.run', agent, ...call },
    });
  });

  it('manages webhook endpoints with a key that has only the scope for it', async () => {
    const caller = market.callers[1]!;
    const env = {
      MARKETPLACE_URL: market.relay.url,
      MARKETPLACE_API_KEY: await webhookKey(caller),
      ANOTHER_API_KEY: caller.apiKey,
    };
    const { code, output } = await python.finish([join(HERE, 'endpoints.py')], env);
    expect(code, output).to.equal(0);
  });

  describe('its checks of receipts', () => {
    it('agree with those in TypeScript on valid receipts, changed ones, and those of another execution', async () => {
      const client = createClient({ baseUrl: market.relay.url, apiKey: market.callers[0]!.apiKey });
      const { execution_id } = await client.request('executeAgent', {
        agent_id: market.agentId,
        body: { task: 'a', parameters: { of: [1, 0.5, 1e21] } },
      });
      const other = await client.request('executeAgent', { agent_id: market.agentId, body: { task: 'b' } });
      const [receipt, strange] = [
        await client.request('getExecutionReceipt', { execution_id }),
        await client.request('getExecutionReceipt', { execution_id: other.execution_id }),
      ];
      const { task: _, parameters: __, ...bare } = receipt;
      const rpcUrl = market.node.rpcUrl;
      const changed = (change: object) => ({ receipt: { ...receipt, ...change }, rpc_url: rpcUrl });
      const questions = [
        ...RECEIPT_CHANGES.map(([, change]) => changed(change(receipt))),
        changed({}),
        { receipt, rpc_url: null },
        { receipt: bare, rpc_url: rpcUrl },
        { receipt, rpc_url: 'http://127.0.0.1:1' },
        { receipt, rpc_url: market.relay.url },
        changed({ result: 'another' }),
        changed({ result: 'a\ud800' }),
        changed({ task: 'another' }),
        changed({ signature: strange.signature }),
        changed({ result_hash: strange.result_hash }),
        changed({ program_id: receipt.record }),
        changed({ execution_id: strange.execution_id }),
        changed({ record: strange.record }),
        changed({ signing_key: receipt.caller }),
        changed({ transactions: strange.transactions }),
        changed({ execution_signature: receipt.signature }),
      ];
      const ids = [vectors.execution.execution_id, execution_id];
      const asked = ids.map((id) => ({ receipt, asked: id, rpc_url: null }));
      const all: { receipt: object; asked?: string; rpc_url: string | null }[] = [...questions, ...asked];
      const malformed = { receipt: { version: 2 }, rpc_url: null };
      const said = (await answersOf('checks.py', [], [...all, malformed])) as Check[][];
      const typescript: Check[][] = [];
      for (const [index, { receipt, asked: executionId, rpc_url: rpcUrl }] of all.entries()) {
        typescript.push(await verifyReceipt(receipt, { rpcUrl, executionId }));
        expect(said[index], `question ${index}`).to.deep.equal(withoutTransactions(typescript[index]!));
      }
      for (const [index, [what, , failed, unknown = []]] of RECEIPT_CHANGES.entries()) {
        // This creator does not sign the execution.
        const expected = failed.filter((name) => name !== 'execution_signature');
        expect(named(typescript[index]!, 'failed'), what).to.deep.equal(expected);
        expect(named(typescript[index]!, 'not_checked'), what).to.include.members(unknown);
      }
      const unchanged = said[RECEIPT_CHANGES.length]!;
      expect(named(unchanged, 'not_checked')).to.deep.equal(['execution_signature']);
      expect(named(unchanged, 'failed')).to.deep.equal([]);
      // A receipt of another execution than the one asked for, and fields that each implementation explains in its words.
      const [ofAnother, own, unreadable] = said.slice(questions.length) as [Check[], Check[], Check[]];
      expect([ofAnother[0]!.state, own[0]!.state]).to.deep.equal(['failed', 'passed']);
      expect(unreadable[0]).to.include({ name: 'shape', state: 'failed' });
      expect(unreadable[0]!.compared.map(({ what }) => what)).to.include.members(['version', 'record']);
      expect(named(unreadable, 'not_checked')).to.have.length(unreadable.length - 1);
    });
  });

  describe('its checks of archived executions', () => {
    const terminal = useTerminal(() => market.node.rpcUrl);

    it('agree with those in TypeScript on a valid proof and on changed ones', async () => {
      const client = createClient({ baseUrl: market.relay.url, apiKey: market.callers[0]!.apiKey });
      const { execution_id } = await client.request('executeAgent', {
        agent_id: market.agentId,
        body: { task: 'archived' },
      });
      const receipt = await client.request('getExecutionReceipt', { execution_id });
      await market.node.timeTravel((await market.node.now()) + constants.recordSecondsMin + 60);
      await terminal.done(market.callers[1]!.wallet, 'archive', 'run', '--make-tree');
      const archive = await untilFound('the proof is shown', () =>
        client.request('getExecutionArchive', { execution_id }).catch(() => null),
      );
      const fields = Buffer.from(archive.fields, 'base64');
      const changed = PROOF_CHANGES.filter(([what]) => what !== 'transaction');
      const altered = [
        Buffer.concat([Buffer.from([1, 9]), fields.subarray(2)]),
        Buffer.concat([fields, Buffer.alloc(1)]),
      ];
      const changes: Partial<Proof>[] = [
        ...changed.map(([, change]) => change(archive, receipt)),
        {},
        { archive_index: 1 },
        { archive_index: 70_000 },
        { proof: archive.proof.map(flipped) },
        ...altered.map((data) => ({ fields: data.toString('base64') })),
      ];
      const rpc_url = market.node.rpcUrl;
      const questions = [
        ...changes.map((change) => ({ receipt: { ...receipt, archive: { ...archive, ...change } }, rpc_url })),
        { receipt, rpc_url },
      ];
      const said = (await answersOf('checks.py', [], questions)) as Check[][];
      for (const [index, question] of questions.entries()) {
        const expected = await inTypeScript(question.receipt, { rpcUrl: rpc_url });
        expect(said[index], `question ${index}`).to.deep.equal(expected);
      }
      for (const [index, [what]] of changed.entries()) {
        expect(named(said[index]!, 'failed'), what).to.deep.equal(['record']);
      }
      const elsewhere = { ...archive, transaction: receipt.transactions.settle! };
      const misplaced = await verifyReceipt({ ...receipt, archive: elsewhere }, { rpcUrl: rpc_url });
      expect(named(misplaced, 'failed')).to.deep.equal(['record']);
      const valid = said[changed.length]!;
      expect(named(valid, 'failed')).to.deep.equal([]);
      expect(named(valid, 'not_checked')).to.deep.equal(['execution_signature']);

      const { first, soon, growing, early, full, late, grown } = await grownProofs(receipt.record, archive);
      const forged = { ...full, proof: full.proof.with(0, flipped(full.proof[0]!)) };
      const startShowing = async (data: Buffer) => {
        const proxy = await startRpcProxy(market.node);
        proxy.onCall(showsData(archive.tree, data));
        return proxy;
      };
      const [small, large] = [await startShowing(growing), await startShowing(grown)];
      const cases = [
        [large, full, null, ['passed', 'passed']],
        [large, early, late, ['not_checked', 'passed']],
        [large, forged, forged, ['failed', 'failed']],
        [small, first, soon, ['not_checked', 'passed']],
        [large, { ...early, fields: dearer(early.fields) }, late, ['failed', 'failed']],
      ] as const;
      const asked = cases.flatMap(([{ rpcUrl }, old, fresh]) => {
        const given = { receipt: { ...receipt, archive: old }, rpc_url: rpcUrl };
        return [given, { ...given, asked: execution_id, archive: fresh }];
      });
      const answers = (await answersOf('checks.py', [], asked)) as Check[][];
      for (const [index, [{ rpcUrl }, old, fresh, states]] of cases.entries()) {
        const given = { ...receipt, archive: old };
        const expected = [
          await inTypeScript(given, { rpcUrl }),
          await inTypeScript(given, { rpcUrl, executionId: execution_id, findArchive: async () => fresh }),
        ];
        const found = answers.slice(2 * index, 2 * index + 2);
        expect(found).to.deep.equal(expected);
        expect(found.map((checks) => checks.find(({ name }) => name === 'record')?.state)).to.deep.equal(states);
      }
      await Promise.all([small.close(), large.close()]);
    });
  });

  describe('its creator kit', () => {
    const pair = generateKeyPairSync('ed25519');
    const jwk = pair.publicKey.export({ format: 'jwk' }) as PublicJwk;
    const signer = { privateKey: pair.privateKey, keyId: callKeyId(jwk) };
    const signingKey = generateSigningKey();
    const program = PROGRAM_ID.toBase58();
    const servers: Server[] = [];
    let kits: string[];
    after(() => {
      for (const server of servers) server.close();
    });

    const serving = (server: Server): Promise<string> => {
      servers.push(server);
      return listen(server);
    };

    before(async () => {
      const directory = await serving(
        createServer((request, response) => {
          if (request.url !== KEY_DIRECTORY_PATH) response.statusCode = 404;
          response.end(JSON.stringify({ keys: [{ kty: 'EC' }, jwk] }));
        }),
      );
      const file = join(python.folder, 'kit.json');
      saveSigningKey(file, signingKey);
      const { match } = await python.start([join(HERE, 'kit.py'), file, directory, program], /^(\d+)$/);
      const runs = new Map<string, number>();
      const ours = createCreatorServer({
        signingKey,
        programId: program,
        verify: { directoryUrl: directory + KEY_DIRECTORY_PATH },
        maxBodyBytes: 100_000,
        maxAnswerBytes: 10_000,
        onError: () => {},
        async execute({ task, executionId, purpose }, { delta }) {
          runs.set(executionId, (runs.get(executionId) ?? 0) + 1);
          if (task === 'fails') throw new ExecutionFailure('no luck');
          if (task === 'times out') throw new Error('a timeout of its own');
          if (task === 'crashes') throw new Error('a secret of the creator');
          if (task === 'hangs') await new Promise(() => {});
          if (task === 'is slow') await new Promise((resolve) => setTimeout(resolve, 500));
          if (task === 'streams') for (const text of ['Once ', 'up\nön', '\u2028']) await delta(text);
          if (task === 'surrogates') return { result: 'a\ud800b', steps: ['cut \ud83c', { a: ['\udf0d'] }] };
          if (task === 'fails in half') throw new ExecutionFailure('cut \ud83c');
          if (task === 'too long') return { result: 'x'.repeat(20_000) };
          const result = `${task}: ${purpose}, run ${runs.get(executionId)}, ü`;
          return { result, tokensUsed: 7, steps: ['one', { a: 1 }] };
        },
      });
      kits = [await serving(ours), `http://127.0.0.1:${match[1]}`];
    });

    let serial = 0;
    const newId = () => {
      serial += 1;
      return `00000000-0000-8000-8000-${String(serial).padStart(12, '0')}`;
    };
    const bodyOf = (fields: object = {}) =>
      JSON.stringify({
        ...{ execution_id: newId(), task: 'hello', parameters: {}, user_pubkey: vectors.keys.caller.public_key },
        ...{ timeout_seconds: 60, ...fields },
      });

    interface Call {
      body?: string | Buffer;
      sign?: string | false;
      method?: string;
      headers?: Record<string, string>;
      purpose?: 'test' | 'execution';
      namedKey?: string;
    }

    /** Parses an event stream into event names and their JSON data. */
    const readStream = (text: string) =>
      [...text.matchAll(/event: (\w+)\ndata: ([^\n]*)\n\n/g)].map(([, name, data]) => [name, JSON.parse(data!)]);

    /** The answers of both kits to the same call, which is signed over `sign`, by default over the body. */
    async function bothSay({
      body = bodyOf(),
      sign,
      method = 'POST',
      headers = {},
      purpose = 'execution',
      namedKey,
    }: Call) {
      return Promise.all(
        kits.map(async (kit) => {
          const url = `${kit}/execute`;
          const signed =
            sign === false
              ? { 'content-type': 'application/json' }
              : await signCall(signer, {
                  url,
                  body: Buffer.from(sign ?? body),
                  purpose,
                  signingKey: namedKey ?? signingKeyAddress(signingKey),
                });
          const given = { method, headers: { ...signed, ...headers }, ...(method === 'POST' && { body }) };
          const answer = await fetch(url, given);
          type Body = Record<string, unknown> & { error: { code: string } };
          const isStream = answer.headers.get('content-type') === 'text/event-stream';
          const said = isStream ? { result: readStream(await answer.text()) } : await answer.json();
          return { status: answer.status, allow: answer.headers.get('allow'), body: said as Body };
        }),
      );
    }

    async function expectSame(call: Call, status: number, part: object): Promise<void> {
      const [ours, theirs] = await bothSay(call);
      expect(theirs).to.deep.equal(ours);
      expect(theirs!.status, JSON.stringify(theirs)).to.equal(status);
      expect(status === 200 ? theirs!.body : theirs!.body.error).to.deep.include(part);
    }

    const REFUSALS: [name: string, call: () => Call, status: number, code: string][] = [
      ['another method', () => ({ method: 'GET' }), 405, 'method_not_allowed'],
      ['another content type', () => ({ headers: { 'content-type': 'text/plain' } }), 415, 'unsupported_media_type'],
      ['a body that is too large', () => ({ body: bodyOf({ task: 'x'.repeat(100_000) }) }), 413, 'payload_too_large'],
      ['an unsigned call', () => ({ sign: false }), 401, 'unauthorized'],
      ['a body that was not signed', () => ({ sign: bodyOf() }), 401, 'unauthorized'],
      ['a digest of the body that was not signed', () => ({ sign: 'x', headers: {} }), 401, 'unauthorized'],
      ['a purpose that was not signed', () => ({ headers: { 'marketplace-purpose': 'test' } }), 401, 'unauthorized'],
      ['a signature that is none', () => ({ headers: { signature: 'sig1=:AAAA:' } }), 401, 'unauthorized'],
      ['signature headers that are none', () => ({ headers: { 'signature-input': '"' } }), 401, 'unauthorized'],
      ['a body that is not JSON', () => ({ body: '{"a":' }), 400, 'invalid_request'],
      ['a body with NaN', () => ({ body: bodyOf().replace('{}', '{"a":NaN}') }), 400, 'invalid_request'],
      ['a body that is not UTF-8', () => ({ body: Buffer.from([0x22, 0xff, 0x22]) }), 400, 'invalid_request'],
      ['a body that is a list', () => ({ body: '[]' }), 400, 'invalid_request'],
      ['an execution_id in upper case', () => ({ body: bodyOf({ execution_id: 'A' }) }), 400, 'invalid_request'],
      ['an empty task', () => ({ body: bodyOf({ task: '' }) }), 400, 'invalid_request'],
      ['a task of lone surrogates', () => ({ body: bodyOf({ task: '\ud800' }) }), 400, 'invalid_request'],
      ['parameters that are a list', () => ({ body: bodyOf({ parameters: [] }) }), 400, 'invalid_request'],
      ['no wallet', () => ({ body: bodyOf({ user_pubkey: '' }) }), 400, 'invalid_request'],
      ...[0, 1.5, 86_401, true, '5', null].map((timeout_seconds): [string, () => Call, number, string] => [
        `the timeout ${JSON.stringify(timeout_seconds)}`,
        () => ({ body: bodyOf({ timeout_seconds }) }),
        400,
        'invalid_request',
      ]),
    ];
    for (const [name, call, status, code] of REFUSALS) {
      it(`refuses ${name} as the kit in TypeScript does`, () => expectSame(call(), status, { code }));
    }

    it('answers as the kit in TypeScript does, to the last byte of each signature', async () => {
      await expectSame({}, 200, { status: 'completed', result: 'hello: execution, run 1, ü', tokens_used: 7 });
      await expectSame({ purpose: 'test' }, 200, { result: 'hello: test, run 1, ü' });
      await expectSame({ body: bodyOf({ task: 'surrogates' }) }, 200, {
        ...{ result: 'a\ufffdb', steps: ['cut \ufffd', { a: ['\ufffd'] }] },
      });
      await expectSame({ body: bodyOf().replace('"timeout_seconds":60', '"timeout_seconds":60.0') }, 200, {
        status: 'completed',
      });
      const numbers = '{"b":[1e21,12345678901234567890,0.1,-0.0,1e-7],"é":"\\u0001","a":null}';
      await expectSame({ body: bodyOf().replace('{}', numbers) }, 200, { status: 'completed' });
    });

    it('fails as the kit in TypeScript does: failures, errors, deadlines, long answers, unknown keys', async () => {
      const failed = (error: string) => ({ status: 'failed', result: null, result_hash: null, signature: null, error });
      const task = (task: string, timeout_seconds = 60) => ({ body: bodyOf({ task, timeout_seconds }) });
      await expectSame(task('fails'), 200, failed('no luck'));
      await expectSame(task('fails in half'), 200, failed('cut \ufffd'));
      await expectSame(task('crashes'), 200, failed('the agent failed with an internal error'));
      await expectSame(task('times out'), 200, failed('the agent failed with an internal error'));
      await expectSame(task('hangs', 1), 200, failed('not finished within the timeout of 1 s'));
      const { public_key } = vectors.keys.creator;
      await expectSame(
        { namedKey: public_key },
        200,
        failed(`this server does not have the signing key ${public_key}`),
      );
      const [ours, theirs] = await bothSay(task('too long'));
      for (const { body } of [ours!, theirs!]) {
        expect(body.error).to.match(/^the answer is \d+ bytes, more than the 10000 allowed$/);
      }
    });

    it('streams output to a marketplace that accepts it, and to no other, as the kit in TypeScript does', async () => {
      const execution_id = newId();
      const call = { body: bodyOf({ execution_id, task: 'streams' }) };
      const accept = 'text/event-stream, application/json';
      const [ours, theirs] = await bothSay({ ...call, headers: { accept } });
      expect(theirs).to.deep.equal(ours);
      const events = theirs!.body.result as [string, object][];
      const [name, answer] = events.pop()!;
      const deltas = ['Once ', 'up\nön', '\u2028'].map((text) => ['delta', { text }]);
      expect([...events, name]).to.deep.equal([...deltas, 'result']);
      // A repeated call gets only the final answer, the same in both.
      const [, again] = await bothSay(call);
      expect(again!.body).to.deep.equal(answer);
    });

    it('runs a repeated execution once, even while it runs, and refuses its id for another task', async () => {
      const execution_id = newId();
      const call = { body: bodyOf({ execution_id, task: 'is slow' }) };
      const answers = await Promise.all([bothSay(call), bothSay(call)]);
      answers.push(await bothSay({ body: bodyOf({ execution_id, task: 'is slow', timeout_seconds: 50 }) }));
      const [first] = answers.flat();
      expect(first!.body.result).to.equal('is slow: execution, run 1, ü');
      for (const answer of answers.flat()) expect(answer).to.deep.equal(first);
      await expectSame({ body: bodyOf({ execution_id, task: 'another' }) }, 409, { code: 'execution_id_reused' });
    });
  });
});
