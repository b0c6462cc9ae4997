/** Runs the steps of docs/devnet.md on Agave's validator with every feature active, with failures on the way. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AccountLayout } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { createMockUsdc } from '../../app/local/network.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import {
  decodeProgramData,
  findProgramDataOf,
  LEAST_EXTENSION,
  PROGRAM_DATA_HEADER,
} from '../../scripts/deploy/loader.ts';
import { createTerminal } from '../docs/terminal.ts';
import { until, untilFound } from '../harness/edge/until.ts';
import { buildWithId, copyProject, generateProgramKey, replaceAddress } from '../harness/fork.ts';
import { freePort } from '../harness/freePort.ts';
import { mintMockUsdc } from '../harness/node/ground.ts';
import { startRpcProxy } from '../harness/node/rpcProxy.ts';
import { findValidator, NO_VALIDATOR, startValidator, type Validator } from '../harness/node/validator.ts';
import { cleanUp, newDirectory, ROOT } from '../local/start.ts';

const PAGE = 'docs/devnet.md';
const ARTIFACT = 'programs/marketplace/artifact/marketplace.so';
const SOL = 1_000_000_000;
const PRICE = 50_000n;
/** The creator's part of the price, without the marketplace's 1 %. */
const EARNED = 49_500n;
/** Calls during the upgrade: the most that may be open against the listing's collateral. */
const MOST_CALLS = 150;
const CALLERS = 3;
const CALL_EVERY_MS = 500;
/** Transactions of the first deployment that are sent before it is killed: about half. */
const SENT_BEFORE_KILL = 400;
/** Longer than any call's deadline plus its grace period. */
const RETURNED_WITHIN_MS = 900_000;

interface Answered {
  status?: string;
  error?: { code: string; message: string; execution_id: string | null };
}
const TEST_CALLER = new PublicKey('HpeSYtSP9Z93JaFza7iBsKE2z2uiQ2rN9mymtc9ktipT');

interface Outcome {
  action: string;
  price_lamports: number;
  needed_lamports: number;
  balance_lamports: number;
  transactions: number;
  extension_bytes: number;
  done: boolean;
  paid_lamports?: number;
  returned_lamports?: number;
}

describe('the program on Agave’s validator', function () {
  this.timeout(1_800_000);
  // Each step depends on the one before it.
  this.bail(true);
  const [folder, dataDir, keys] = [newDirectory(), newDirectory(), newDirectory()];
  const [authority, program, mint] = [Keypair.generate(), generateProgramKey(), Keypair.generate()];
  const children: ChildProcess[] = [];
  const file = (name: string): string => join(folder, name);
  /** A file in the folder of keys, outside of the checkout. */
  const keyFile = (name: string): string => join(keys, name);
  const programId = program.publicKey;
  let validator: Validator;
  let terminal: ReturnType<typeof createTerminal>;

  before(async function () {
    if (findValidator() === null) {
      console.log(`      ${NO_VALIDATOR}`);
      this.skip();
    }
    copyProject(folder);
    terminal = createTerminal(folder, dataDir, 'tests/validator/deploy.test.ts');
    validator = await startValidator();
  });
  after(async () => {
    terminal?.close();
    for (const child of children) child.kill('SIGKILL');
    await validator?.remove();
    cleanUp();
  });

  const saveKey = (path: string, key: Keypair) =>
    writeFileSync(path, JSON.stringify([...key.secretKey]), { mode: 0o600 });
  const readKey = (name: string) =>
    Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(keyFile(name), 'utf8')) as number[]));
  const balanceOf = (key: PublicKey) => validator.connection.getBalance(key, 'confirmed');
  const rentOf = (bytes: number) => validator.connection.getMinimumBalanceForRentExemption(bytes);
  async function give(to: PublicKey, lamports: number): Promise<void> {
    const { connection, payer } = validator;
    const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });
    await connection.sendTransaction(new Transaction().add(transfer), [payer]);
    await until(`${to} has its SOL`, async () => (await balanceOf(to)) >= lamports);
  }
  const tokensOf = async (wallet: PublicKey): Promise<bigint> => {
    const info = await validator.connection.getAccountInfo(findTokenAccount(wallet, mint.publicKey), 'confirmed');
    return info ? AccountLayout.decode(info.data).amount : 0n;
  };
  async function programData(id = programId) {
    const account = await validator.connection.getAccountInfo(findProgramDataOf(id), 'confirmed');
    return { lamports: account!.lamports, ...decodeProgramData(account!.data)! };
  }

  /** Starts the command as a process. `root` is the copy of the project, or the project. */
  function startMigrate(args: string[], options: { wallet?: string; root?: string; url?: string } = {}) {
    const { wallet = keyFile('upgrade-authority.json'), root = folder, url = validator.rpcUrl } = options;
    const child = spawn(process.execPath, ['scripts/run.mjs', 'scripts/migrate.ts', ...args, '--json'], {
      cwd: root,
      env: { ...process.env, ANCHOR_PROVIDER_URL: url, ANCHOR_WALLET: wallet },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    const printed = { stdout: '', stderr: '' };
    child.stdout!.on('data', (chunk) => (printed.stdout += String(chunk)));
    child.stderr!.on('data', (chunk) => (printed.stderr += String(chunk)));
    const closed = once(child, 'close') as Promise<[number | null]>;
    return { child, printed, closed };
  }
  async function migrate(...started: Parameters<typeof startMigrate>): Promise<Outcome> {
    const { printed, closed } = startMigrate(...started);
    const [code] = await closed;
    expect(code, printed.stderr).to.equal(0);
    return JSON.parse(printed.stdout) as Outcome;
  }
  /** Runs a command that must be refused. Returns the message. */
  async function refusal(...started: Parameters<typeof startMigrate>): Promise<string> {
    const { printed, closed } = startMigrate(...started);
    const [code] = await closed;
    expect([code, printed.stdout], printed.stderr).to.deep.equal([1, '']);
    return printed.stderr;
  }

  it('uses the keys and the program id created by docs/devnet.md', async () => {
    await terminal.paste(PAGE, { '~/marketplace-keys': keys });
    expect(statSync(keys).mode & 0o777).to.equal(0o700);
    // Only an id with the same bumps can replace the one in a compiled program.
    saveKey(keyFile('program.json'), program);
    await terminal.paste(PAGE, { PROGRAM_ID: programId.toBase58() });
    expect(readFileSync(file('programs/marketplace/src/lib.rs'), 'utf8')).to.include(`declare_id!("${programId}")`);
    expect(await refusal(['--deploy', '--program-keypair', keyFile('program.json')])).to.include(
      'was not compiled for the program id',
    );
    buildWithId(folder, programId);
    saveKey(keyFile('upgrade-authority.json'), authority);
    const relayAuthority = readKey('relay-authority.json').publicKey;
    // A deployment leaves one deposit of the program there, and an upgrade needs a second one for a while.
    await Promise.all([give(authority.publicKey, 15 * SOL), give(relayAuthority, 5 * SOL)]);
  });

  it('refuses a deployment that cannot succeed, explains why, and spends nothing', async () => {
    const poor = Keypair.generate();
    const wallet = file('poor.json');
    saveKey(wallet, poor);
    await give(poor.publicKey, SOL);
    const deploy = ['--deploy', '--yes', '--program-keypair', keyFile('program.json')];
    const old = join(ROOT, 'tests/program/bankrun/marketplace.so');
    const [tooPoor, withoutKey, tooOld] = await Promise.all([
      refusal(deploy, { wallet }),
      refusal(['--deploy', '--yes', '--buffer-keypair', file('other.buffer.json')], { wallet }),
      refusal(['--deploy', '--yes', '--program', old, '--buffer-keypair', file('v0.buffer.json')], {
        wallet,
        root: ROOT,
      }),
    ]);
    expect(tooPoor).to.match(/The balance is too small by \d+ lamports/);
    expect(withoutKey).to.include('must sign the first deployment');
    expect(tooOld).to.include('is SBPF v0, and this cluster accepts only v3 or newer');
    expect(await balanceOf(poor.publicKey)).to.equal(SOL);
  });

  it('costs only fees when the loader refuses it, and the buffer is refunded', async () => {
    const key = Keypair.generate();
    const old = readFileSync(join(ROOT, 'tests/program/bankrun/test_caller.so'));
    replaceAddress(old, TEST_CALLER, key.publicKey);
    writeFileSync(file('old.so'), old);
    saveKey(file('old.json'), key);
    const buffer = ['--buffer-keypair', file('old.buffer.json')];
    const before = await balanceOf(authority.publicKey);
    const names = ['--program', file('old.so'), '--program-keypair', file('old.json'), ...buffer];
    const deploy = ['--deploy', ...names, '--skip-feature-check'];
    const planned = await migrate(deploy);
    const refused = await refusal([...deploy, '--yes']);
    expect(refused).to.include('sbpf_version').and.include('--close-buffer');
    const { returned_lamports } = await migrate(['--close-buffer', ...buffer]);
    expect(returned_lamports).to.equal(await rentOf(37 + old.length));
    // All of its transactions except the last were sent, the first with two signatures. Then one closed the buffer.
    const signatures = planned.transactions - 1 + 1 + 1;
    expect(before - (await balanceOf(authority.publicKey))).to.equal(signatures * 5_000);
  });

  it('shows the deployment cost, and spends nothing without --yes', async () => {
    const before = await balanceOf(authority.publicKey);
    await terminal.paste(PAGE, { 'https://api.devnet.solana.com': validator.rpcUrl });
    expect(await balanceOf(authority.publicKey)).to.equal(before);
    expect(existsSync(keyFile('upgrade-authority.buffer.json'))).to.equal(false);
  });

  it('resumes a killed deployment, at the announced cost', async () => {
    const { connection, rpcUrl, wsUrl } = validator;
    const before = await balanceOf(authority.publicKey);
    const { price_lamports } = await migrate(['--deploy', '--program-keypair', keyFile('program.json')]);
    const proxy = await startRpcProxy({ rpcUrl, wsUrl });
    let [sent, read, isDeployed] = [0, 0, false];
    // A deployment that gets no more answers cannot end before the kill.
    proxy.onCall(({ method }) => {
      if (method === 'sendTransaction') sent += 1;
      return sent > SENT_BEFORE_KILL ? 'silence' : null;
    });
    const deploy = ['--deploy', '--yes', '--program-keypair', keyFile('program.json')];
    const { child, printed, closed } = startMigrate(deploy, { url: proxy.rpcUrl });
    const isHalfSent = () => sent > SENT_BEFORE_KILL;
    await until('half of the transactions are sent', isHalfSent, 60_000, () => printed.stderr);
    child.kill('SIGKILL');
    await closed;
    expect(statSync(keyFile('upgrade-authority.buffer.json')).mode & 0o777).to.equal(0o600);
    // Transactions in flight may land while the price is read.
    const rest = await untilFound('a price while no transaction lands', async () => {
      const balance = await balanceOf(authority.publicKey);
      const { price_lamports, transactions } = await migrate([
        '--deploy',
        '--program-keypair',
        keyFile('program.json'),
      ]);
      const isSettled = (await balanceOf(authority.publicKey)) === balance;
      return isSettled ? { price_lamports, transactions, spent: before - balance } : null;
    });
    expect(rest.spent + rest.price_lamports).to.equal(price_lamports);
    // A node that limits its callers, loses accepted transactions, breaks connections, and executes without answering.
    sent = 0;
    proxy.onCall(async ({ method, params }, forward) => {
      if (method !== 'sendTransaction') {
        read += 1;
        return read % 10 === 0 ? 'cut' : null;
      }
      const { signature: bytes, instructions } = Transaction.from(Buffer.from(params[0] as string, 'base64'));
      const signature = bs58.encode(bytes!);
      const isLast = instructions.length > 1;
      if (isLast && !isDeployed) {
        await forward();
        await until('the program is deployed', async () => {
          const { value } = await connection.getSignatureStatus(signature);
          return value?.confirmationStatus === 'finalized';
        });
        isDeployed = true;
        return 'cut';
      }
      sent += 1;
      // Each refused or lost transaction delays its batch by seconds, so one of each kind is enough.
      if (sent === 83) return { status: 429 };
      if (sent === 149) return { json: { jsonrpc: '2.0', id: '1', result: signature } };
      if (sent !== 113) return null;
      await forward();
      return 'cut';
    });
    await terminal.type(`export ANCHOR_PROVIDER_URL=${proxy.rpcUrl}`);
    await terminal.paste(PAGE);
    await terminal.type(`export ANCHOR_PROVIDER_URL=${rpcUrl}`);
    await proxy.close();
    expect(sent).to.be.greaterThan(rest.transactions);
    expect([read >= 10, isDeployed]).to.deep.equal([true, true]);
    expect(before - (await balanceOf(authority.publicKey))).to.equal(price_lamports);
  });

  it('is deployed as in its file, and the wallet can upgrade it', async () => {
    const artifact = readFileSync(file(ARTIFACT));
    const data = await programData();
    expect(data.bytes.equals(artifact)).to.equal(true);
    expect(data.authority?.equals(authority.publicKey)).to.equal(true);
    expect(data.lamports).to.equal(await rentOf(PROGRAM_DATA_HEADER + artifact.length));
    const account = await validator.connection.getAccountInfo(programId, 'confirmed');
    expect([account!.executable, account!.lamports]).to.deep.equal([true, await rentOf(36)]);
    const before = await balanceOf(authority.publicKey);
    const again = await migrate(['--deploy', '--yes']);
    expect([again.action, again.price_lamports]).to.deep.equal(['none', 0]);
    expect(await balanceOf(authority.publicKey)).to.equal(before);
    const { printed, closed } = startMigrate(['--close-buffer']);
    await closed;
    expect(printed.stderr).to.include('nothing to return');
  });

  it('cannot be upgraded without its authority', async () => {
    writeFileSync(file('new.so'), Buffer.concat([readFileSync(file(ARTIFACT)), Buffer.from('next')]));
    const refused = await refusal(['--deploy', '--yes', '--program', file('new.so')], { wallet: file('poor.json') });
    expect(refused).to.include(`its upgrade authority is ${authority.publicKey}, and ANCHOR_WALLET is`);
  });

  describe('with a marketplace on it', () => {
    const [creator, caller] = [Keypair.generate(), Keypair.generate()];
    let url: string;
    let key: string;
    let agentId: string;

    it('is created with its marketplace, and served by two processes', async () => {
      const { connection, payer, rpcUrl, wsUrl } = validator;
      await createMockUsdc(connection, { payer, mint, mintAuthority: payer.publicKey });
      await terminal.type(`export USDC_MINT=${mint.publicKey}`);
      const relayAuthority = readKey('relay-authority.json').publicKey.toBase58();
      await terminal.paste(PAGE, { ADDRESS: relayAuthority });
      const [config] = PublicKey.findProgramAddressSync([Buffer.from('config')], programId);
      expect((await connection.getAccountInfo(config, 'confirmed'))!.owner.equals(programId)).to.equal(true);

      url = `http://127.0.0.1:${await freePort()}`;
      await terminal.type(`export PORT=${new URL(url).port} ALLOW_PRIVATE_ENDPOINTS=true SPONSOR=all`);
      await terminal.paste(PAGE, {
        'https://api.devnet.solana.com': rpcUrl,
        'wss://api.devnet.solana.com': wsUrl,
        '/var/lib/marketplace': file('data'),
      });
      const funds = { payer, mintAuthority: payer, mint: mint.publicKey, amount: 10_000_000n };
      await Promise.all([
        terminal.type('until npm run -s indexer -- status > /dev/null; do sleep 1; done'),
        ...[creator.publicKey, caller.publicKey].flatMap((owner) => [
          give(owner, SOL),
          mintMockUsdc(connection, { ...funds, owner }),
        ]),
      ]);
      await terminal.paste(PAGE, { 'https://api.example.com': url, 'npm run relay': 'npm run relay &' });
      const ready = () => fetch(`${url}/ready`).then(({ ok }) => ok);
      await until('the relay is ready', () => ready().catch(() => false), 120_000, terminal.printed).catch((error) => {
        throw new Error(`${error.message}\n${terminal.printed()}`);
      });
    });

    it('accepts a listing and a paid call', async () => {
      saveKey(file('creator.json'), creator);
      saveKey(file('caller.json'), caller);
      const port = String(await freePort());
      const agent = file('examples/agent.json');
      writeFileSync(agent, readFileSync(agent, 'utf8').replace(':8080/', `:${port}/`));
      await terminal.type(`export MARKETPLACE_URL=${url}
        npm run cli -- keys new .local/signing.json
        npx tsx examples/creator.ts .local/signing.json ${port} ${url} &`);
      const health = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok);
      await until('the creator listens', () => health().catch(() => false));
      await terminal.type('npm run cli -- listing create examples/agent.json --keypair creator.json');
      const output = await terminal.type('npm run cli -- keys create --name calls --keypair caller.json');
      key = /crtx_test_\w+/.exec(output)![0];
      const listed = async () => (await (await fetch(`${url}/v1/agents`)).json()) as { agents: { agent_id: string }[] };
      await until('the agent is listed', async () => (await listed()).agents.length === 1);
      agentId = (await listed()).agents[0]!.agent_id;
      const before = await held();
      expect(await call('before')).to.equal('completed');
      expect(await held()).to.deep.equal(moved(before, 1n));
    });

    it('is upgraded during calls without a loss', async () => {
      const artifact = readFileSync(file(ARTIFACT));
      const next = Buffer.concat([artifact, Buffer.from('the next version')]);
      writeFileSync(file(ARTIFACT), next);
      const [before, lamports] = [await held(), await balanceOf(authority.publicKey)];
      const planned = await migrate(['--deploy']);
      expect([planned.action, planned.extension_bytes]).to.deep.equal(['upgrade', LEAST_EXTENSION]);
      const growth =
        (await rentOf(PROGRAM_DATA_HEADER + artifact.length + LEAST_EXTENSION)) - (await programData()).lamports;
      // Each of its transactions has one signature; the one that creates the buffer has two.
      expect(planned.price_lamports).to.equal(growth + (planned.transactions + 1) * 5_000);

      const slotBefore = (await programData()).slot;
      const outcomes: string[] = [];
      const completedOf = () => outcomes.filter((outcome) => outcome === 'completed').length;
      let [isOver, started, sent] = [false, 0, 0];
      // Writing a buffer does not affect calls. So they start when three quarters are sent, and the rest waits for them.
      const { rpcUrl, wsUrl } = validator;
      const proxy = await startRpcProxy({ rpcUrl, wsUrl });
      const isMostlySent = () => sent > (planned.transactions * 3) / 4;
      proxy.onCall(async ({ method }) => {
        if (method !== 'sendTransaction') return null;
        sent += 1;
        if (isMostlySent()) await until('calls complete meanwhile', () => completedOf() >= CALLERS);
        return null;
      });
      const callOnAndOn = async () => {
        while (!isOver && started < MOST_CALLS) {
          started += 1;
          outcomes.push(await call(`during-${started}`));
          await delay(CALL_EVERY_MS);
        }
      };
      const upgrade = async () => {
        await terminal.paste(PAGE).finally(() => {
          isOver = true;
        });
      };
      const calls = async () => {
        await until(
          'most of it is sent',
          () => isOver || isMostlySent(),
          undefined,
          () => sent,
        );
        await Promise.all(Array.from({ length: CALLERS }, callOnAndOn));
      };
      await terminal.type(`export ANCHOR_PROVIDER_URL=${proxy.rpcUrl}`);
      await Promise.all([upgrade(), calls()]);
      await proxy.close();
      const after = await programData();
      expect(after.bytes.subarray(0, next.length).equals(next)).to.equal(true);
      expect(after.slot > slotBefore).to.equal(true);
      expect(lamports - (await balanceOf(authority.publicKey))).to.equal(planned.price_lamports);
      expect(await call('after')).to.equal('completed');

      // Refused calls cost nothing, and all others were paid.
      await until('no call is open', async () => (await openCalls()) === 0);
      const completed = completedOf();
      console.log(
        `      ${outcomes.length} calls meanwhile, ${completed} of them completed: ${[...new Set(outcomes)]}`,
      );
      expect(completed).to.be.at.least(CALLERS);
      expect(outcomes.filter((outcome) => !/^(completed|503 \w+)$/.test(outcome))).to.deep.equal([]);
      // A refused open may still have been in flight. Its price is refunded after the call's deadline.
      const due = String(moved(before, BigInt(completed) + 1n));
      await until('nothing is in escrow', async () => String(await held()) === due, RETURNED_WITHIN_MS);
    });

    it('has run every block of docs/devnet.md that is marked for this test', () => {
      expect(terminal.left([PAGE])).to.deep.equal([]);
    });

    /** USDC of caller, creator and marketplace, base units. */
    async function held(): Promise<[bigint, bigint, bigint]> {
      const [treasury] = PublicKey.findProgramAddressSync([Buffer.from('treasury')], programId);
      const account = await validator.connection.getAccountInfo(treasury, 'confirmed');
      const fees = AccountLayout.decode(account!.data).amount;
      return [await tokensOf(caller.publicKey), await tokensOf(creator.publicKey), fees];
    }
    const moved = ([paid, earned, fees]: [bigint, bigint, bigint], calls: bigint) => [
      paid - PRICE * calls,
      earned + EARNED * calls,
      fees + (PRICE - EARNED) * calls,
    ];
    const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

    /** Makes one paid call and repeats it with the same key until it has ended. Returns its status, or the error. */
    async function call(name: string): Promise<string> {
      // After this deadline, the price of a refused open is refunded.
      const body = JSON.stringify({ task: 'Count', parameters: { text: 'to be or not to be' }, timeout_seconds: 60 });
      for (;;) {
        const answer = await fetch(`${url}/v1/agents/${agentId}/execute`, {
          method: 'POST',
          headers: { ...headers(), 'idempotency-key': name },
          body,
        });
        const { status, error } = (await answer.json()) as Answered;
        if (error && answer.status === 503) console.log(`      ${name}: ${error.message} (${error.execution_id})`);
        if (answer.status !== 202 && answer.status !== 409) return status ?? `${answer.status} ${error!.code}`;
        await delay(200);
      }
    }

    async function openCalls(): Promise<number> {
      const counts = ['running', 'pending'].map(async (status) => {
        const answer = await fetch(`${url}/v1/executions?status=${status}`, { headers: headers() });
        return ((await answer.json()) as { total: number }).total;
      });
      const [running, pending] = (await Promise.all(counts)) as [number, number];
      return running + pending;
    }
  });
});
