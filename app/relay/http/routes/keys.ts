/** The route of a key's own budget. */
import { OwnKey } from '../../../sdk/wire/wire.ts';
import { readOwnKey } from '../../access/ownKey.ts';
import { CACHING, ok, route } from './route.ts';
import { AGENT_ID, CREATOR, WALLET } from './samples.ts';

export const keyRoutes = {
  getKey: route({
    method: 'get',
    path: '/v1/key',
    tag: 'Executions',
    summary: 'Read the budget of the API key',
    about:
      "Limits, spend, remaining amounts and restrictions of the key that sends the request, and its wallet's USDC and gas balance, read from the chain now. Any scope is enough. Calls whose escrow is not open yet are not counted. Each call takes its price from the allowance, and a refund does not give it back: while `allowance_covers_total` is false, the wallet should renew it, on the page “API keys” or with `keys allowance`. The chain enforces all limits; scopes, addresses and agents are restrictions that only this service checks.",
    access: 'key',
    answers: ok({
      about: 'The key.',
      schema: OwnKey,
      examples: {
        key: {
          key_id: '3f2a9c0d5b7e41628894a0f1c2d3e4f5',
          name: 'claude-desktop',
          wallet: WALLET,
          environment: 'test',
          expires_at: '2027-02-23T09:25:11.000Z',
          scopes: ['execute', 'read'],
          allowed_ips: null,
          allowed_agents: [AGENT_ID],
          execution_count: 12,
          payable_usdc: 1,
          per_execution_max_usdc: 1,
          period_max_usdc: 5,
          period_spent_usdc: 2.75,
          period_remaining_usdc: 2.25,
          period_seconds: 86_400,
          renews_at: '2026-11-26T09:25:11.000Z',
          total_max_usdc: 20,
          total_spent_usdc: 2.75,
          total_remaining_usdc: 17.25,
          balance_usdc: 97.25,
          allowance_usdc: 37.25,
          allowance_covers_total: true,
          gas: {
            gas_balance_address: CREATOR,
            lamports: 9_865_000,
            next_call_lamports: 11_250,
            max_gas_lamports: 20_000,
            pays_next_call: true,
            is_sponsored: false,
          },
        },
      },
    }),
    errors: [],
    cache: CACHING.never,
    async handle({ deps }, { caller }) {
      return { status: 200, value: await readOwnKey(deps, caller) };
    },
  }),
};
