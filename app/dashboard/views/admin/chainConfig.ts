/** The marketplace's settings on the chain, and the program's bounds for each. */
import { queryOptions } from '@tanstack/react-query';
import { openChain } from '../../wallet/chain.ts';

const REFRESH_MS = 15_000;

export const chainConfigQuery = queryOptions({
  queryKey: ['chain-config'],
  queryFn: async () => {
    const { marketplace, showConfig, mustWait, program } = await openChain();
    return {
      config: await showConfig(marketplace),
      limits: program.constants,
      mustWait: (change: Parameters<typeof mustWait>[1]) => mustWait(marketplace, change),
    };
  },
  refetchInterval: REFRESH_MS,
});

export type ChainConfig = Awaited<ReturnType<Extract<typeof chainConfigQuery.queryFn, CallableFunction>>>;
export type Settings = ChainConfig['config'];
export type Limits = ChainConfig['limits'];
