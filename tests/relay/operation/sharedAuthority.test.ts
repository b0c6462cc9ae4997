import { expect } from 'chai';
import pino from 'pino';
import { openDatabase } from '../../../app/database/open.ts';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import { createIndexer } from '../../../indexer/indexer.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import { afterPaying, goodAnswer, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';

describe('a second deployment with the same relay authority', () => {
  const folder = useFolder('second-deployment');
  const market = useMarketplace();

  it('takes a running call of the first for an orphan, and lets the first end it', async () => {
    const { rpcUrl, wsUrl } = market.node;
    const indexer = createIndexer({ rpcUrl, wsUrl, path: indexPath(folder), log: pino({ level: 'silent' }) });
    await indexer.start();
    const before = await market.balances();
    let answer: (() => void) | undefined;
    market.setBehaviour((body, _response, reply) => {
      answer = () => reply(goodAnswer(market.signingKey, body.execution_id, 'done'));
    });
    const call = market.execute(market.relay.url, { task: 'x' });
    await until('the creator is called', async () => answer !== undefined);
    const second = await startRelayHere(market, { DATA_DIR: folder, DATABASE_URL: undefined, LOG_LEVEL: 'silent' });
    try {
      const { sqlite, close } = openDatabase(ledgerPath(folder), { readonly: true });
      const states = () => sqlite.prepare('SELECT state FROM executions').pluck().all();
      await until('it has adopted the record', async () => states()[0] === 'parked');
      answer!();
      expect((await call).status).to.equal(200);
      await until('it has followed the record', async () => states()[0] === 'settled');
      close();
      expect(await market.balances()).to.deep.equal(afterPaying(before, 1n));
    } finally {
      await second.stop();
      await indexer.stop();
    }
  });
});
