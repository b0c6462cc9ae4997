/**
 * Deployments that lose their ledgers while x402 payments are in deposits. After the deadline each payer has its USDC
 * and each deployment its rent, and none touches a deposit of the other.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import pino from 'pino';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import { readUnknownDeposits } from '../../../app/relay/ledger/lenders.ts';
import { openViews } from '../../../app/relay/ledger/open.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import {
  decodeAccount,
  depositAddress,
  findTokenAccount,
  findTreasury,
  prepareDeposit,
} from '../../../app/sdk/program/program.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { createIndexer, type Indexer } from '../../../indexer/indexer.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import { createBuyers, PAYMENT_LAMPORTS, SERVICE_FEE, TOTAL } from '../../harness/node/buyers.ts';
import { PRICE, request, useMarketplace } from '../../harness/node/marketplace.ts';
import { replaceRelayAuthorities } from '../../harness/node/relayAuthorities.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';
import { stopAt } from '../../harness/node/standstill.ts';

const FEE_LAMPORTS = 5_000;
const EVER = 2n ** 62n;

describe('two deployments that lost their ledgers', function () {
  this.timeout(300_000);
  const feePayer = Keypair.generate();
  const other = Keypair.generate();
  const payers = [Keypair.generate(), Keypair.generate(), Keypair.generate()] as const;
  const [paying, undecided, payingOther] = payers;
  const folder = useFolder('other-deployment');
  const indexers: Indexer[] = [];
  const relays: RunningRelay[] = [];

  // A quote lasts for about a hundred slots.
  const market = useMarketplace({ feePayer, slotTimeMs: 200, environment: { STANDSTILL: '1' } });
  before(async () => {
    await market.node.fundSol(other.publicKey, 10e9);
    const authorities = [market.authority.publicKey, other.publicKey];
    await replaceRelayAuthorities(market.node.connection, market.node.payer, authorities);
    for (const { publicKey } of payers) await market.mintTo(publicKey, TOTAL);
  });
  after(async () => {
    for (const relay of relays) await relay.stop();
    for (const indexer of indexers) await indexer.stop();
  });

  const { sign, usdcOf, lamports, isGone } = createBuyers(market);
  const balances = async () => ({
    paying: await usdcOf(paying),
    undecided: await usdcOf(undecided),
    payingOther: await usdcOf(payingOther),
    treasury: await market.amountOf(findTreasury()),
    relay: await lamports(market.authority),
    other: await lamports(other),
    feePayer: await lamports(feePayer),
  });
  /** The accounts of a deposit and its vault; null once closed. */
  const read = (deposit: PublicKey) => {
    const addresses = [deposit, findTokenAccount(deposit, market.usdcMint)];
    return market.node.connection.getMultipleAccountsInfo(addresses, 'confirmed');
  };

  /** Pays the relay's quote as an x402 client does, and stops the call where its task says. */
  async function buy(task: string, payer: Keypair): Promise<PublicKey> {
    const { deposit, send } = await sign({ task }, { by: payer });
    send().catch(() => undefined);
    await until(`the call stands: ${task}`, async () => market.relay.standing.has(task));
    return deposit;
  }

  /** Prepares and pays a deposit as the other deployment's relay did before its ledger was lost. */
  async function buyFromOther(): Promise<PublicKey> {
    const { usdcMint } = market;
    const terms = {
      listing: new PublicKey(market.agentId),
      listingVersion: 1,
      requestHash: randomBytes(32),
      timeoutSeconds: 60,
      nonce: randomBytes(16),
    };
    const quote = { terms, payer: payingOther.publicKey, price: PRICE, serviceFee: SERVICE_FEE };
    const sender = { authority: other.publicKey, rentPayer: other.publicKey, rentSponsor: other.publicKey };
    const prepare = prepareDeposit({ ...quote, ...sender, usdcMint, caller: payingOther.publicKey });
    await sendTransaction(market.node.connection, [prepare], keypairSigner(other));
    const { address, vault } = depositAddress({ ...quote, usdcMint });
    await market.node.fundSol(payingOther.publicKey, 1e9);
    const source = findTokenAccount(payingOther.publicKey, usdcMint);
    const transfer = createTransferInstruction(source, vault, payingOther.publicKey, TOTAL);
    await sendTransaction(market.node.connection, [transfer], keypairSigner(payingOther));
    return address;
  }

  /** Deposits that relays of this ledger would return at this time. */
  async function unknownBy(time: bigint, place: Parameters<typeof openViews>[0]): Promise<string[]> {
    const views = await openViews(place);
    const found = await readUnknownDeposits(views.db, time, null, 10).finally(() => views.close());
    return found.map(({ deposit }) => deposit);
  }

  async function startIndexer(path: string): Promise<void> {
    const { rpcUrl, wsUrl } = market.node;
    const indexer = createIndexer({ rpcUrl, wsUrl, path, log: pino({ level: 'silent' }) });
    indexers.push(indexer);
    await indexer.start();
  }

  it('each return their own deposits after the deadline, paid or not, and touch no deposit of the other', async () => {
    const before = await balances();
    const paid = await buy(stopAt('paid:after'), paying);
    const unpaid = await buy(stopAt('depositConfirmed:after'), undecided);
    const others = await buyFromOther();
    const rows = 'SELECT count(*) AS count FROM deposits WHERE closed = 0';
    await until('the index has them', async () => Number((await market.query('index', rows))[0].count) === 3);
    // A deposit with a row is handled by the steps of its row, in every state.
    expect(await unknownBy(EVER, market)).to.deep.equal([]);
    await market.relay.kill();
    for (const suffix of ['', '-wal', '-shm']) rmSync(ledgerPath(market.dataDir) + suffix);
    const lost = await Promise.all([paid, unpaid].map(read));
    const made = [...lost, await read(others)].map(([account]) => decodeAccount('Deposit', account!.data));
    const deadline = made[2]!.expiresAt;
    expect(made.every(({ expiresAt }) => expiresAt <= deadline)).to.equal(true);

    const path = join(folder, 'authority.json');
    writeFileSync(path, JSON.stringify([...other.secretKey]), { mode: 0o600 });
    await startIndexer(indexPath(folder));
    const silent = { LOG_LEVEL: process.env.TEST_LOG ?? 'silent' };
    const own = { DATA_DIR: folder, RELAY_KEYPAIR: path, ARCHIVE: 'off' };
    relays.push(await startRelayHere(market, { ...silent, ...own }));
    const place = { dataDir: folder, databaseUrl: null };
    const expected = [others.toBase58()];
    await until('its index has it', async () => String(await unknownBy(deadline, place)) === String(expected));
    expect(await unknownBy(deadline - 1n, place)).to.deep.equal([]);
    await market.node.timeTravel(Number(deadline));
    // An idle relay reads the chain's clock once a minute. This request makes it read at once.
    await request(relays[0]!.url, '/trpc/config.get');
    await until('the other deployment has returned its own', () => isGone(others));
    expect(await Promise.all([paid, unpaid].map(read))).to.deep.equal(lost);

    await startIndexer(market.indexPlace);
    relays.push(await startRelayHere(market, silent));
    await until('this one has returned its own', async () => (await isGone(paid)) && (await isGone(unpaid)));
    // Each deployment has paid one fee for each deposit that it made, and two for returning them all.
    expect(await balances()).to.deep.equal({
      paying: before.paying,
      undecided: before.undecided,
      payingOther: before.payingOther,
      treasury: before.treasury,
      relay: before.relay - 4 * FEE_LAMPORTS,
      other: before.other - 3 * FEE_LAMPORTS,
      feePayer: before.feePayer - PAYMENT_LAMPORTS,
    });
    await until('its index shows it', async () => (await unknownBy(EVER, market)).length === 0);
  });
});
