/**
 * What one wallet may cost the fee payer, against the real node: the network fees of failed executions are counted as
 * the chain charged them, paid use never is, and one wallet's limit is nobody else's.
 */

import {
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { expect } from 'chai';
import { openDatabase } from '../../../app/database/open.ts';
import { networkFee } from '../../../app/relay/chain/networkFee.ts';
import { ledgerPath } from '../../../app/relay/config.ts';
import { generateSigningKey } from '../../../app/sdk/creator/signingKey.ts';
import { requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { openByWallet } from '../../../app/sdk/wallet/executions.ts';
import { changeSettings } from '../../../app/sdk/wallet/settings.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import {
  type Answer,
  failedAnswer,
  goodAnswer,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';

/** A failed call costs an open and a refund of 5,000 lamports each: the third meets the limit. */
const MAX_LOST = 20_000;
const MAX_OPEN = 3;

interface Row {
  state: string;
  fees: bigint;
  open_signature: string | null;
  refund_signature: string | null;
}

describe('relay/networkFee', () => {
  const payer = Keypair.generate().publicKey;
  const program = Keypair.generate();
  const other = { programId: program.publicKey, keys: [], data: Buffer.alloc(0) };
  const feeOf = (...instructions: TransactionInstruction[]): bigint => {
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash: payer.toBase58(), instructions });
    return networkFee(message.compileToV0Message());
  };
  const price = (microLamports: number) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
  const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });

  it('is 5,000 lamports for every signature, those that the Ed25519 program verifies too', () => {
    expect(feeOf(other)).to.equal(5_000n);
    expect(feeOf({ ...other, keys: [{ pubkey: program.publicKey, isSigner: true, isWritable: false }] })).to.equal(
      10_000n,
    );
    const verify = Ed25519Program.createInstructionWithPrivateKey({
      privateKey: program.secretKey,
      message: Buffer.from('m'),
    });
    expect(feeOf(verify, other)).to.equal(10_000n);
  });

  it('and the price of its compute units, rounded up', () => {
    expect(feeOf(limit(35_000), price(1_000_000), other)).to.equal(40_000n);
    expect(feeOf(limit(35_000), price(1), other)).to.equal(5_001n);
    expect(feeOf(limit(35_000), price(0), other)).to.equal(5_000n);
    expect(feeOf(price(10_000), other, other)).to.equal(9_000n);
  });
});

describe('protection of the fee payer', function () {
  this.timeout(60_000);
  let market: TestMarketplace;
  let relay: RelayHandle;

  before(async () => {
    market = await startMarketplace();
    const limits = { MAX_LOST_LAMPORTS_PER_DAY: String(MAX_LOST), MAX_OPEN_EXECUTIONS: String(MAX_OPEN) };
    relay = await market.startRelayProcess({ WITHOUT_INDEXER: 'true', ...limits });
  });
  after(async () => {
    await relay.kill();
    await market.stop();
  });
  beforeEach(() => market.setBehaviour(null));

  const fail = () => market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id)));
  const execute = (caller: number, body: object = { task: 'x' }): Promise<Answer> =>
    request(relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey: market.callers[caller]!.apiKey, body });

  /** The journal, read or changed as time would change it. */
  function inLedger<T>(use: (sqlite: ReturnType<typeof openDatabase>['sqlite']) => T): T {
    const ledger = openDatabase(ledgerPath(market.dataDir));
    try {
      return use(ledger.sqlite);
    } finally {
      ledger.close();
    }
  }
  const rowOf = (id: string) =>
    inLedger((sqlite) => sqlite.prepare('SELECT * FROM executions WHERE execution_id = ?').get(id) as Row);

  /** What the chain took for these transactions, lamports. */
  async function chargedFor(...signatures: (string | null)[]): Promise<bigint> {
    let sum = 0n;
    for (const signature of signatures) {
      const found = await market.node.connection.getTransaction(signature!, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      });
      sum += BigInt(found!.meta!.fee);
    }
    return sum;
  }

  async function refused(answer: Answer, says: RegExp, retryAfter: string): Promise<void> {
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    expect(answer.body.error.message).to.match(says);
    expect(answer.body.error.execution_id).to.equal(null);
    expect(answer.headers.get('retry-after')).to.equal(retryAfter);
  }

  it('counts the fees of a failed call as the chain charges them', async () => {
    fail();
    const failed = rowOf((await execute(1)).body.error.execution_id);
    expect(failed.fees).to.equal(await chargedFor(failed.open_signature, failed.refund_signature));
  });

  it('refuses a wallet whose failed calls cost the limit within a day, and no other wallet', async () => {
    for (let count = 0; count < 4; count += 1) expect((await execute(0)).status).to.equal(200);
    fail();
    for (let lost = 0; lost < MAX_LOST; ) {
      const answer = await execute(0);
      expect(answer.status).to.equal(500);
      lost += Number(rowOf(answer.body.error.execution_id).fees);
    }
    const before = await market.balances();
    market.setBehaviour(null);
    await refused(await execute(0), /lamports in network fees/, '900');
    expect(await market.balances()).to.deep.equal(before);
    expect((await execute(1)).status).to.equal(200);
    // A relay without limits takes it.
    const apiKey = market.callers[0]!.apiKey;
    const elsewhere = { apiKey, body: { task: 'x' } };
    expect((await request(market.relay.url, `/v1/agents/${market.agentId}/execute`, elsewhere)).status).to.equal(200);
  });

  it('also refuses to start what that wallet has opened itself', async () => {
    const opened = await openByWallet(market.marketplace, {
      wallet: keypairSigner(market.callers[0]!.wallet),
      agentId: new PublicKey(market.agentId),
      requestHash: requestHash('x'),
    });
    const answer = await request(relay.url, `/v1/executions/${opened.execution_id}/start`, {
      apiKey: market.callers[0]!.apiKey,
      body: { task: 'x' },
    });
    await refused(answer, /lamports in network fees/, '900');
    expect((await market.record(opened.execution_id))?.status).to.equal('open');
  });

  it('takes it again when a day has passed', async () => {
    inLedger((sqlite) => sqlite.exec(`UPDATE executions SET created_ms = created_ms - ${24 * 3_600_000}`));
    expect((await execute(0)).status).to.equal(200);
  });

  it('does not count what failed by our own fault', async () => {
    fail();
    for (let count = 0; count < 2; count += 1) expect((await execute(0)).status).to.equal(500);
    market.setBehaviour(null);
    await refused(await execute(0), /lamports/, '900');
    inLedger((sqlite) =>
      sqlite.exec("UPDATE executions SET error_code = 'service_unavailable' WHERE error_code = 'execution_failed'"),
    );
    expect((await execute(0)).status).to.equal(200);
  });

  it('refuses a wallet that has too many executions open, and no other, until one of them has ended', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    market.setBehaviour(async (body, _response, reply) => {
      await held;
      reply(failedAnswer(body.execution_id));
    });
    for (let count = 0; count < MAX_OPEN; count += 1) {
      expect((await execute(1, { task: 'x', async: true })).body.status).to.equal('pending');
    }
    const before = await market.balances();
    await refused(await execute(1), /3 executions open, as many/, '10');
    expect(await market.balances()).to.deep.equal(before);
    expect((await execute(0, { task: 'x', async: true })).body.status).to.equal('pending');
    release();
    await until('the open ones have ended', async () => {
      const answer = await execute(1);
      return !answer.body.error?.message?.includes('executions open');
    });
  });

  describe('opens that the program would refuse', () => {
    const admin = () => market.node.payer;
    const change = (settings: Parameters<typeof changeSettings>[2]) =>
      changeSettings(market.marketplace, keypairSigner(admin()), settings);
    const lamports = () => market.node.connection.getBalance(market.authority.publicKey, 'confirmed');
    /** Calls are refused in these words, and none of them costs a fee. */
    async function requireFree(says: RegExp): Promise<void> {
      const before = await lamports();
      for (let count = 0; count < 5; count += 1) {
        const answer = await execute(0);
        expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([503, 'service_unavailable']);
        expect(answer.body.error.message).to.match(says);
        expect(answer.body.error.execution_id).to.equal(null);
      }
      expect(await lamports()).to.equal(before);
    }

    it('while opens are paused one fee at most is burnt, /ready says so, and calls go on when they are resumed', async () => {
      await change({ opensPaused: true });
      const first = await execute(0);
      expect([first.status, first.body.error.code], first.text).to.deep.equal([503, 'service_unavailable']);
      await requireFree(/takes no new executions for now/);
      const ready = await request(relay.url, '/ready');
      expect([ready.status, ready.body.problems]).to.deep.equal([503, ['opens_paused']]);
      await change({ opensPaused: false });
      await until('calls are served again', async () => (await execute(0)).status === 200);
    });

    it('a listing at its exposure limit burns one fee, which counts against who asked, and others go on', async () => {
      const signingKey = generateSigningKey();
      market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
      const elsewhere = await market.list({ name: 'exposed', endpoint: market.endpoint, signingKey });
      market.setBehaviour(null);
      await change({ exposureMultiple: 1 });
      try {
        const wallet = market.callers[0]!.wallet.publicKey.toBase58();
        const lostBy = () =>
          inLedger((sqlite) =>
            sqlite.prepare('SELECT sum(lost_fees) FROM executions WHERE wallet = ?').pluck().get(wallet),
          ) as bigint;
        const lostBefore = lostBy();
        let last: Answer;
        do last = await execute(0);
        while (last.status === 200);
        expect(last.body.error.message).to.match(/escrow could not be opened|collateral/);
        expect(lostBy() - lostBefore).to.equal(5_000n);
        await requireFree(/as its collateral covers just now/);
        const other = { apiKey: market.callers[0]!.apiKey, body: { task: 'x', async: true } };
        expect((await request(relay.url, `/v1/agents/${elsewhere}/execute`, other)).status).to.equal(200);
      } finally {
        await change({ exposureMultiple: 0 });
      }
    });
  });
});
