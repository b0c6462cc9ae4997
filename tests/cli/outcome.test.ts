/**
 * How a command reports a transaction when the node misbehaves: as failed only if that is certain, otherwise as
 * unknown. The node is a real one behind a server that breaks `sendTransaction`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import bs58 from 'bs58';
import { expect } from 'chai';
import { decodeAccount, findGrant } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { cli, createTerminal, type Run } from './run.ts';

/**
 * `silent`: accepts the transaction and never answers again. `lossy`: claims to accept the transaction and drops it.
 */
type Fault = 'silent' | 'lossy';

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A signed transaction begins with the number of signatures, one byte, and its first signature. */
const signatureOf = (base64: string): string => bs58.encode(Buffer.from(base64, 'base64').subarray(1, 65));

async function startBadNode(rpcUrl: string, fault: Fault) {
  const sent: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const body = await readBody(request);
    if (fault === 'silent' && sent.length > 0) return void request.socket.destroy();
    const { id, method, params } = JSON.parse(body);
    response.setHeader('content-type', 'application/json');
    if (method === 'sendTransaction') {
      const signature = signatureOf(params[0]);
      sent.push(signature);
      if (fault === 'lossy') return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: signature }));
    }
    const headers = { 'content-type': 'application/json' };
    const answer = await (await fetch(rpcUrl, { method: 'POST', body, headers })).text();
    if (sent.length > 0 && fault === 'silent') request.socket.destroy();
    else response.end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('the command line and a node that behaves badly', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let terminal: ReturnType<typeof createTerminal>;
  let nodes: Awaited<ReturnType<typeof startBadNode>>[];
  let runs: Promise<Run>[];
  let earlier: bigint[];

  const held = (index: number) => market.amountOf(market.callers[index]!.usdc);

  before(async () => {
    market = await startMarketplace();
    terminal = createTerminal(market.node.rpcUrl);
    const faults: Fault[] = ['silent', 'lossy', 'silent'];
    nodes = await Promise.all(faults.map((fault) => startBadNode(market.node.rpcUrl, fault)));
    earlier = [await held(0), await held(1)];
    const open = ['execution', 'open', market.agentId, '--task', 'x'];
    const commands = [open, open, ['keys', 'create', '--name', 'lost', '--base-url', market.relay.url]];
    // In parallel, because each runs until the command's long timeout.
    runs = commands.map((words, index) => {
      const { secretKey } = market.callers[index % 2]!.wallet;
      const keypair = terminal.file(`wallet-${index}.json`, JSON.stringify([...secretKey]));
      return cli([...words, '--rpc-url', nodes[index]!.url, '--keypair', keypair, '--json']);
    });
  });
  after(async () => {
    for (const node of nodes) node.close();
    terminal.close();
    await market.stop();
  });

  it('reports an unknown outcome with the signature when the node stops answering after the send', async () => {
    const { code, stdout, stderr } = await runs[0]!;
    expect({ code, stdout }).to.deep.equal({ code: 3, stdout: '' });
    expect(nodes[0]!.sent).to.have.length(1);
    expect(stderr).to.include(`The outcome is unknown: the transaction ${nodes[0]!.sent[0]} was sent`);
    // The execution was opened, so reporting a failure would be false. Its id was printed before.
    expect(await held(0)).to.equal(earlier[0]! - 250_000n);
    const [id] = /[0-9a-f-]{36}/.exec(stderr) ?? [];
    expect(await terminal.look('execution', 'show', String(id))).to.include({ status: 'open', escrow_usdc: '0.25' });
  });

  it('reports that two transactions in a row never landed once both have expired', async () => {
    const { code, stdout, stderr } = await runs[1]!;
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    const [first, second, ...more] = nodes[1]!.sent;
    expect(more).to.deep.equal([]);
    const lost = (signature?: string) =>
      `The transaction ${signature} did not land within the 30 s for which it is valid.`;
    expect(stderr).to.include(`${lost(first)} Signing a new one ...`);
    expect(stderr).to.include(`${lost(second)} Nothing has changed on the chain. Try again.`);
    expect(await held(1)).to.equal(earlier[1]);
  });

  it('prints a key that may already be able to spend', async () => {
    const { code, stdout, stderr } = await runs[2]!;
    expect(code).to.equal(3);
    expect(stderr).to.include(`The outcome is unknown: the transaction ${nodes[2]!.sent[0]} was sent`);
    const { api_key } = JSON.parse(stdout);
    const grant = findGrant(market.callers[0]!.wallet.publicKey, keyIdOf(api_key));
    const account = await market.node.connection.getAccountInfo(grant);
    expect(decodeAccount('KeyGrant', account?.data as Buffer).revoked).to.equal(false);
  });

  it('asks the user to name a node when no service names one', async () => {
    const { code, stderr } = await cli(['admin', 'config', '--base-url', 'http://127.0.0.1:1']);
    expect(code).to.equal(1);
    expect(stderr).to.include('No server answers at http://127.0.0.1:1.').and.include('Give its URL with --rpc-url.');
  });
});
