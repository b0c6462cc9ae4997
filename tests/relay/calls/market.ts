/** One marketplace for the files of this folder that leave its relay and its clock fit for the next file. */
import { startMarketplace, type TestMarketplace } from '../../harness/node/marketplace.ts';

let started: ReturnType<typeof startMarketplace> | null = null;
after(async () => (await started)?.stop());

export function useSharedMarketplace(): TestMarketplace {
  const market = {} as TestMarketplace;
  before(async () => {
    started ??= startMarketplace({ here: true });
    Object.assign(market, await started);
  });
  return market;
}
