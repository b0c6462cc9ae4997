/** The share of its time that the event loop works, by which requests that nobody pays for are refused. */
import { expect } from 'chai';
import { watchLoad } from '../../../app/relay/operation/load.ts';
import { until } from '../../harness/edge/until.ts';

describe('the load of a process', () => {
  it('is high while the event loop works without a pause, and not while it waits', async () => {
    const load = watchLoad();
    expect(load.isBusy()).to.equal(false);
    await until('it is busy', async () => {
      for (const end = performance.now() + 300; performance.now() < end; );
      return load.isBusy();
    });
    await until('it is idle again', async () => !load.isBusy());
    load.end();
  });
});
