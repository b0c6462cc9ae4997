/** Fields of events, webhooks and their deliveries. */
export const EVENTS_FIELDS: Record<string, string> = {
  after: 'The value after the change, in the same form as `before`.',
  'MarketplaceEvent.id':
    'The event’s id, such as `evt_42`. A later event has a larger number. An event may be sent twice.',
  'MarketplaceEvent.type': 'What happened; it decides which fields `data` has.',
  'MarketplaceEvent.timestamp': 'When it happened.',
  'MarketplaceEvent.data': 'The details, by type.',
  'MarketplaceEvent.error_code': 'Why the execution failed: an `error.code`; null for other events.',
  'MarketplaceEvent.role': '`caller`: the wallet bought the execution. `creator`: it created the agent.',
  'MarketplaceEvent.limit': 'The limit of the key that is nearly used up.',
  'MarketplaceEvent.amount_to_caller_usdc': 'The amount that the caller gets back, USDC.',
  'MarketplaceEvent.amount_slashed_usdc':
    'The amount that the creator lost of the agent’s collateral, USDC. It can be more than the caller gets.',
  'MarketplaceEvent.collateral_usdc': 'The remaining collateral of the agent, USDC.',
  'MarketplaceEvent.success_rate': 'The share of all calls of the agent that succeeded, 0 to 1.',
  'MarketplaceEvent.success_rate_recent':
    'The share of its last calls that succeeded, as in its `health`; null if this service has made none.',
  'MarketplaceEvent.spent_usdc':
    'The amount of this limit that is spent, USDC, including the call that triggered this event.',
  'MarketplaceEvent.max_usdc': 'The limit, USDC.',
  'MarketplaceEvent.gas_lamports': 'The wallet’s gas balance, lamports.',
  'MarketplaceEvent.calls_left': 'The number of calls that the gas balance pays for at the present fees.',
  'MarketplaceEvent.url': 'The address of the endpoint.',
  endpoint_id: 'The webhook endpoint.',
  endpoints: 'The webhook endpoints of the wallet.',
  event_types:
    'The types of events that are sent to it. Empty means all, also types that are added later. Default: all.',
  enabled: 'False: nothing is sent from now on. True: events from now on are sent again.',
  'CreateWebhookBody.url': 'An https address of your server, without user and password. Redirects are not followed.',
  'UpdateWebhookBody.url': 'Another https address of your server, without user and password.',
  'WebhookEndpoint.url': 'The address of your server.',
  'WebhookEndpoint.status': '`failing`: the last attempt failed. `disabled`: nothing is sent.',
  'WebhookEndpoint.created_at': 'When it was added.',
  failing_since: 'The first failed attempt since the last success; null unless attempts fail.',
  disabled_at: 'When it was disabled; null if it is enabled.',
  disabled_by:
    '`wallet`: you disabled it. `failures`: this service disabled it after three days in which each attempt failed.',
  old_secret_until:
    'Until this time, each request is also signed with the secret before the last rotation; null if there is none.',
  'WebhookSecret.endpoint': 'The webhook endpoint.',
  secret: 'Verifies each request, by the Standard Webhooks specification. It is not shown again.',
  deliveries: 'At most `limit` deliveries, newest first.',
  delivery_id: 'The delivery, such as `dlv_42`.',
  event_id: 'The event’s id, such as `evt_42`.',
  event_type: 'What happened.',
  'WebhookDelivery.execution_id': 'The execution that the event is about; null for other events.',
  'WebhookDelivery.status':
    '`pending`: it is sent, or sent again, at `next_attempt_at`. `failed`: it is not sent again.',
  attempts: 'The number of attempts so far.',
  next_attempt_at: 'When it is sent, or sent again; null unless `pending`.',
  attempted_at: 'The last attempt; null before the first.',
  body: 'The first KiB of the answer to the last attempt, as text; null if none came.',
  'WebhookDelivery.error': 'Why the last attempt failed; null otherwise.',
  'WebhookDelivery.created_at': 'When the event was ready to be sent.',
};
