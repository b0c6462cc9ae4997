/** The endpoints of a wallet's webhooks. */
import { queryOptions } from '@tanstack/react-query';
import { request } from '../../service.ts';

export const endpointsQuery = (wallet: string | null | undefined) =>
  queryOptions({
    queryKey: ['webhooks', wallet],
    queryFn: async () => (await request('listWebhooks')).endpoints,
    enabled: Boolean(wallet),
  });
