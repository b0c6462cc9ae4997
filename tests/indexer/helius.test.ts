/** An index filled from Helius' history equals, row for row, an index filled from a plain node. */
import { expect } from 'chai';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { type History, heliusHistory } from '../../app/solana/helius.ts';
import { type RpcCall, startHeliusFront } from '../harness/node/heliusFront.ts';
import { type Row, useBench } from './harness.ts';

const API_KEY = 'an-api-key';

describe('the history of Helius', function () {
  this.timeout(600_000);
  const { market, bench } = useBench();
  let front: Awaited<ReturnType<typeof startHeliusFront>>;
  /** The node's own transactions, oldest first, in the format of `getTransactionsForAddress`. */
  const recorded: unknown[] = [];
  let plain: Record<string, Row[]>;

  before(async () => {
    await market.list();
    await market.run(4, await market.grant());
    const { connection } = market.node;
    const signatures = await connection.getSignaturesForAddress(PROGRAM_ID, {}, 'confirmed');
    for (const { signature, slot } of signatures.reverse()) {
      const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 255 } as const;
      const { meta, transaction } = (await connection.getTransaction(signature, options))!;
      const { err, logMessages } = meta!;
      const entry = { slot, transactionIndex: 0, blockTime: null, meta: { err, fee: meta!.fee, logMessages } };
      recorded.push({ ...entry, transaction: { signatures: transaction.signatures, message: {} } });
    }
    // More than the indexer applies together.
    expect(recorded.length).to.be.greaterThan(10);
    front = await startHeliusFront({ getTransactionsForAddress: answer }, market.node);
    plain = await fill('plain.db');
  });
  after(() => front?.stop());

  /** Returns three transactions a page, and a token for the next page. */
  function answer({ params }: RpcCall): unknown {
    const { paginationToken } = params[1] as { paginationToken?: string };
    const from = Number(paginationToken ?? 0);
    const next = from + 1;
    return { data: recorded.slice(from, next), paginationToken: next < recorded.length ? String(next) : null };
  }

  /** Fills a new index and returns all its rows by table. */
  const fill = (name: string, history?: History): Promise<Record<string, Row[]>> =>
    bench.backfill(name, history && { rpcUrl: front.baseUrl, history });

  const fetched = () => front.calls.filter(({ method }) => method === 'getTransaction').length;

  it('is read page by page in the order of the chain, nothing is fetched twice, and all of it only once', async () => {
    front.calls.length = 0;
    const filled = await fill('helius.db', heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl }));
    expect(filled).to.deep.equal(plain);
    expect(filled.executions).to.have.length(4);
    const asked = front.calls.filter(({ method }) => method === 'getTransactionsForAddress');
    expect(asked).to.have.length(recorded.length);
    expect(asked[0]!.url).to.equal(`/?api-key=${API_KEY}`);
    expect(asked[0]!.params).to.deep.equal([
      PROGRAM_ID.toBase58(),
      {
        transactionDetails: 'full',
        sortOrder: 'asc',
        limit: 100,
        commitment: 'finalized',
        encoding: 'json',
        maxSupportedTransactionVersion: 255,
        filters: { status: 'any' },
      },
    ]);
    expect((asked[1]!.params[1] as { paginationToken: string }).paginationToken).to.equal('1');
    expect(fetched()).to.equal(0);
    // The index has a cursor now.
    front.calls.length = 0;
    expect(await fill('helius.db', heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl }))).to.deep.equal(plain);
    expect(front.calls.filter(({ method }) => method === 'getTransactionsForAddress')).to.deep.equal([]);
  });

  it('resumes where it was interrupted', async () => {
    const whole = heliusHistory({ apiKey: API_KEY, baseUrl: front.baseUrl });
    const starts: (string | null)[] = [];
    const broken: History = async function* read(address, from) {
      starts.push(from);
      let pages = 0;
      for await (const page of whole(address, from)) {
        yield page;
        pages += 1;
        if (pages === 4 && page.next !== null) {
          throw new Error('RPC error (getTransactionsForAddress): too many requests');
        }
      }
    };
    front.calls.length = 0;
    expect(await fill('broken.db', broken)).to.deep.equal(plain);
    const tokens = recorded.map((_, page) => (page === 0 ? null : String(page)));
    expect(starts).to.deep.equal(tokens.filter((_, page) => page % 4 === 0));
    expect(fetched()).to.equal(0);
  });
});
