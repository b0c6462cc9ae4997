/** Fields of API keys. */
export const KEYS_FIELDS: Record<string, string> = {
  keys: 'The public keys that calls to creators are signed with, as JSON Web Keys (RFC 8037).',
  use: 'The use of the key.',
  'OwnKey.name': 'The name that its wallet gave the key.',
  'OwnKey.key_id': 'The key on the chain, 32 hex digits.',
  expires_at:
    'When this service stops accepting the key: the end of its grant, or an earlier time that its wallet chose.',
  scopes: 'What the key may be used for.',
  allowed_ips: 'IP addresses and address blocks from which this service accepts the key; null: from any.',
  allowed_agents: 'Agents that the key may call; null: any. This service enforces it, not the chain.',
  execution_count: 'Executions that the key opened.',
  payable_usdc:
    'The highest price that a call with this key may have now, USDC: the smallest of its limits, the balance and the allowance.',
  per_execution_max_usdc: 'The highest price of one execution, USDC.',
  period_max_usdc: 'The limit of each period, USDC.',
  period_spent_usdc: 'Spent in the present period, USDC. Refunds are subtracted.',
  period_remaining_usdc: 'Left in the present period, USDC.',
  period_seconds: 'The length of a period.',
  total_max_usdc: 'The limit of the key in total, USDC.',
  total_spent_usdc: 'Spent so far, USDC. Refunds are subtracted.',
  total_remaining_usdc: 'Left of the total limit, USDC.',
  'OwnKey.renews_at': 'When the next period begins.',
  balance_usdc: 'The wallet’s USDC.',
  allowance_usdc:
    'The USDC that all keys of the wallet together may still spend. Each call takes its price, and a refund does not give it back. Only the wallet renews it.',
  allowance_covers_total:
    'False: the allowance ends before the key’s total limit does. Then calls get 402 with the limit `allowance`.',
  lamports: 'The gas balance, lamports.',
  next_call_lamports:
    'The most that the network fees of a call are now, lamports. Calls at the same moment share fees.',
  max_gas_lamports: 'The most that one call of this key may take for network fees, lamports; a limit of its grant.',
  pays_next_call:
    'True if the gas balance and the gas limit of the key’s grant cover these fees, and the gas balance can lend the refundable deposit of a call until it ends. If this and `is_sponsored` are false, the next call gets 402 with `limit: gas`.',
  is_sponsored: 'True if this service pays the gas of a call where the gas balance does not, as on a local network.',
};
