/** The chain's clock, which the program uses. A local network's clock may differ much from the computer's. */
import { useQuery } from '@tanstack/react-query';
import { readTime } from '../wallet/accounts.ts';
import { useNow } from './now.ts';

const READ_AGAIN_MS = 60_000;
const TICK_MS = 1_000;

/** Unix milliseconds of the chain's clock, updated each second; undefined until it is read, and while `on` is false. */
export function useChainClock(on = true): number | undefined {
  const { data } = useQuery({
    queryKey: ['chain-clock'],
    queryFn: async () => {
      const chain = (await readTime()) * 1_000;
      return { ahead: chain - Date.now() };
    },
    enabled: on,
    refetchInterval: READ_AGAIN_MS,
    staleTime: TICK_MS,
  });
  const now = useNow(TICK_MS, on);
  return data && on ? now + data.ahead : undefined;
}
