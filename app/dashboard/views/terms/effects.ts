/** The names of settings, and what a change of one does to calls in progress, to disputes and to listed agents. */
import type { ChangedSetting } from '../../../sdk/wire/operationProcedures.ts';

export const LABELS: Record<ChangedSetting['setting'], string> = {
  guardian_pause: 'Pause of the guardian',
  fee: 'Fee',
  min_price: 'Lowest price',
  dispute_bond: 'Dispute bond',
  dispute_window: 'Dispute window',
  refund_grace: 'Refund time',
  max_timeout: 'Longest timeout',
  record_time: 'Time until a call’s account is closed',
  exposure_multiple: 'Cap on calls',
  admin_delay: 'Delay of changes',
  collateral_tiers: 'Collateral',
  relay_authorities: 'Relay authorities',
  guardian: 'Guardian',
  admin: 'Admin',
};

const NEW_CALLS = 'Applies to new calls only.';

/** Of the settings that are a time of a call. */
export const LONGER =
  'A longer dispute window, refund time or timeout can also lengthen how long collateral is held after a later delisting.';

/** By setting, in the order in which they are shown. */
export const EFFECTS = {
  fee: 'Applies to new calls only, also of agents already listed.',
  min_price:
    'Listed agents with a lower price stay as they are, and can be paused and resumed. To edit one, its creator must also raise its price.',
  collateral_tiers:
    'Counts for a listed agent when its creator changes its price or resumes it, and when a dispute takes from its collateral. An agent whose price is above the highest price cannot be edited or resumed until its price is lowered.',
  dispute_window: NEW_CALLS,
  refund_grace: NEW_CALLS,
  max_timeout: `${NEW_CALLS} To edit a listed agent with a longer timeout, its creator must also shorten it.`,
  dispute_bond: 'Applies to every later dispute.',
  exposure_multiple: 'Counts at once for every agent, with the calls that it has taken in its present window.',
  record_time: 'Counts at once for every call whose account is not closed yet.',
} as const;
