/** Shared by the pages of keys and of hosts that ask for one. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../service.ts';
import { moneyQuery } from './money.ts';

/** A wallet's keys, also ended ones. */
export const keysQuery = (wallet: string) =>
  queryOptions({ queryKey: ['keys', wallet], queryFn: async () => (await call('keys.list')).keys });

/** A wallet's keys, and its money on the chain with theirs; undefined until both are known. */
export function useWalletKeys(wallet: string, enabled = true) {
  const listed = useQuery({ ...keysQuery(wallet), enabled, refetchInterval: 5_000 });
  const ids = [...new Set(listed.data?.map(({ key_id }) => key_id))];
  const chain = useQuery({
    ...moneyQuery(wallet, ids),
    enabled: enabled && listed.data !== undefined,
    // The wallet's figures stay visible while a key is added.
    placeholderData: (before) => before,
  });
  return { listed, money: chain.data, chain };
}
