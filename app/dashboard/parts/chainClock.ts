/** The chain's clock, which the program compares with. A local network's may be far from the computer's. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { openChain } from '../wallet/chain.ts';

const READ_AGAIN_MS = 60_000;
const TICK_MS = 1_000;

/** Unix milliseconds by the chain's clock, each second anew; undefined until it is read, and while `on` is false. */
export function useChainClock(on = true): number | undefined {
  const { data } = useQuery({
    queryKey: ['chain-clock'],
    queryFn: async () => {
      const { marketplace, readClock } = await openChain();
      const chain = Number(await readClock(marketplace.connection)) * 1_000;
      return { ahead: chain - Date.now() };
    },
    enabled: on,
    refetchInterval: READ_AGAIN_MS,
    staleTime: TICK_MS,
  });
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [on]);
  return data && on ? now + data.ahead : undefined;
}
