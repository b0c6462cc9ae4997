/**
 * Mutations that are not refused by a named error, each with its effect and the reason why that is correct. The suite
 * fails if an exception applies to nothing or its case behaves differently.
 */
import { PRICE, SERVICE_FEE } from '../../harness/vm/world.ts';
import type { Mutation } from './mutations.ts';
import { type Target, TYPES } from './targets.ts';

/**
 * `succeeds`: all lamports and tokens go to the usual accounts, or to those in their place. `between`: the same, except
 * that the account and these share their lamports differently. `refused below`: by a program that ours calls, or by the
 * runtime. `tokens`: it succeeds, and exactly these accounts gain or lose tokens.
 */
export type Effect = 'succeeds' | 'refused below' | { between: string[] } | { tokens: Record<string, bigint> };

/** A mutation of an account, and which of its variants. */
interface Changes {
  mutation: Mutation;
  /** Names of variants; all of the mutation's if left out. */
  variants?: string[];
}

export interface Exception extends Changes {
  /** `moment.account` or `instruction.account`, `*` for any instruction. `@authority` and `@payer` mean signers. */
  where: string[];
  effect: Effect;
  reason: string;
}

const MAKERS = [
  'initialize_config',
  'propose_change',
  'set_creator_verified the first time',
  'list_agent',
  'rotate_signing_key to a new key',
  'create_grant',
  'open_execution',
  'open_execution_with_grant',
  'prepare_deposit',
  'open_execution_from_deposit',
  'open_dispute',
  'open_dispute_with_proof',
  'claim_refund',
  'create_archive',
].map((title) => `${title}.payer`);
/** Accounts that Anchor's `init` makes, and its payers. It makes them before it checks anything else. */
const INITIALIZED = [
  'initialize_config.config',
  'prepare_deposit.deposit',
  'propose_change.change',
  'list_agent.listing',
  'list_agent.collateral',
  'create_grant.grant',
  'create_archive.archive',
];
/** The same for accounts that may exist. */
const INITIALIZED_IF_NEEDED = [
  'set_creator_verified the first time.profile',
  'list_agent.signing_key',
  'rotate_signing_key to a new key.signing_key',
  'open_dispute.dispute',
  'open_dispute_with_proof.dispute',
];
const INITIALIZED_BY = [...new Set([...INITIALIZED, ...INITIALIZED_IF_NEEDED].map((place) => place.split('.')[0]))].map(
  (title) => `${title}.payer`,
);
const REMAKERS = ['set_creator_verified a second time.payer', 'rotate_signing_key back to an earlier key.payer'];
const RENT_RECEIVERS = ['*.rent_sponsor', '*.deposit_rent_sponsor', 'resolve_dispute.creator'];
/** Token accounts of the program whose balance the instruction moves. */
const KEPT = ['settle_execution.escrow', 'refund_execution.escrow', 'return_collateral.collateral_vault'];
const MOVED = [
  ...KEPT,
  'claim_dispute_award.collateral_vault',
  'sweep_forfeits.collateral_vault',
  'withdraw_treasury.treasury',
  'claim_refund.unclaimed',
  'move_unclaimed_refund.escrow',
];
/** Amount in the deposits of the scenarios. */
const PAID = PRICE + SERVICE_FEE;
/** Mutations after which a token account cannot receive. */
const UNUSABLE: Changes[] = [
  { mutation: 'wrong owner' },
  { mutation: 'closed' },
  { mutation: 'other mint', variants: ["Token-2022's", 'of another mint'] },
  { mutation: 'type cosplay', variants: ['bytes of a mint'] },
];

/** Relay authorities that receive the gas. */
const SETTLES = ['settle_execution of a call of a key', 'settle_execution of what the wallet opened itself'];
const PAID_RELAYS = [
  ...SETTLES.map((title) => `${title}.relay_authority`),
  'refund_execution by the relay.authority',
  'refund_execution of what the wallet opened itself.authority',
];
/** Other signers that may receive lamports. */
const TAKERS = [
  'refund_execution by anyone from refund_at on.authority',
  'move_unclaimed_refund.authority',
  'withdraw_gas.wallet',
];

/** Rent sponsors named by the payer of an open or a deposit. */
const OPENED = ['open_execution', 'open_execution_with_grant', 'open_execution_from_deposit'];
const NAMED = [...OPENED, 'prepare_deposit'].map((title) => `${title}.rent_sponsor`);
/** Other accounts of the instruction that may also be named as rent sponsor. */
const NAMEABLE: Record<string, string[]> = {
  open_execution: ['caller', 'listing', 'collateral', 'source'],
  open_execution_with_grant: ['relay_authority', 'listing', 'collateral', 'grant', 'source'],
  open_execution_from_deposit: [
    ...['relay_authority', 'listing', 'collateral', 'deposit', 'vault', 'deposit_rent_sponsor', 'treasury'],
  ],
  prepare_deposit: ['authority'],
};
const NAMED_REASON = 'The payer lends the rent and says who gets it back: any account that can be given lamports.';

/** Grants of refunded executions. */
const REFUNDS = [
  'refund_execution by the relay',
  'refund_execution by anyone from refund_at on',
  'move_unclaimed_refund',
];
const GRANTS = REFUNDS.map((title) => `${title}.grant`);
/** Gas balances that paid the gas of ended executions and lent their escrows. */
const GAS_BALANCES = ['settle_execution of a call of a key', ...REFUNDS].map((title) => `${title}.spender`);
const GONE_GRANT = 'A grant that is gone or unreadable must never keep a caller from the money; it gets nothing back.';
const MINTS = ['list_agent', 'prepare_deposit', ...OPENED].map((title) => `${title}.usdc_mint`);
const MINT_CHANGES: Changes[] = [
  { mutation: 'wrong owner' },
  { mutation: 'closed' },
  { mutation: 'other mint', variants: ["Token-2022's"] },
  { mutation: 'type cosplay', variants: ['bytes of a token account'] },
];
const MINT_REASON =
  "It stands at the config's address; what is there only the token program reads, when it makes an account.";

/** Instructions that send their event to the program itself. */
const CARRIERS = ['archive_executions', 'move_unclaimed_refund', 'move_unclaimed_deposit', 'claim_refund'];

export const EXCEPTIONS: Exception[] = [
  ...(['wrong owner', 'closed'] as const).flatMap((mutation): Exception[] => [
    {
      where: ['@authority', ...TAKERS, ...(mutation === 'closed' ? [] : PAID_RELAYS)],
      mutation,
      effect: 'succeeds',
      reason: 'A signature is all that is asked of an authority, so that addresses of other programs can act too.',
    },
    {
      where: RENT_RECEIVERS,
      mutation,
      effect: 'succeeds',
      reason: 'It only receives lamports, and any address can.',
    },
    {
      where: MAKERS,
      mutation,
      effect: 'refused below',
      reason: 'Whether an account can pay rent only the system program knows, which is asked to move it.',
    },
    { where: REMAKERS, mutation, effect: 'succeeds', reason: 'There is no rent to pay.' },
  ]),
  {
    where: ['@payer'],
    mutation: "another user's",
    effect: 'succeeds',
    reason: 'Anybody who signs may pay the rent.',
  },
  {
    where: ['@payer'],
    mutation: 'duplicated',
    variants: ['admin', 'authority', 'caller', 'creator', 'relay_authority', 'wallet'].map(
      (name) => `${name} in its place`,
    ),
    effect: 'succeeds',
    reason: 'Anybody who signs may pay the rent, also who acts.',
  },
  {
    where: [
      'refund_execution by anyone from refund_at on.authority',
      'move_unclaimed_refund.authority',
      'move_unclaimed_deposit.authority',
      'claim_dispute_award by anyone.authority',
      'refund_deposit by anyone once it has expired.authority',
    ],
    mutation: "another user's",
    effect: 'succeeds',
    reason: 'Anybody may send the money to its owner.',
  },
  {
    where: ['initialize_config.usdc_mint'],
    mutation: 'other mint',
    variants: ['another mint'],
    effect: 'succeeds',
    reason: 'The upgrade authority says which mint it is, once.',
  },
  {
    where: ['initialize_config.usdc_mint', 'list_agent.source', 'list_agent.payout', 'update_listing.payout'],
    mutation: 'wrong PDA',
    effect: 'succeeds',
    reason: "Any mint at first, then any USDC account of the creator's will do.",
  },
  ...(['source', 'payout'] as const).map(
    (name): Exception => ({
      where: [`list_agent.${name}`],
      mutation: 'duplicated',
      variants: [name === 'source' ? 'payout in its place' : 'source in its place'],
      effect: 'succeeds',
      reason: 'One account of the creator may both pay the deposit and be paid.',
    }),
  ),
  {
    where: [
      'top_up_collateral.source',
      'open_execution.source',
      'withdraw_treasury.destination',
      'claim_dispute_award by the caller to another account, the last of a returned collateral.destination',
      'claim_refund.destination',
    ],
    mutation: 'wrong PDA',
    effect: 'succeeds',
    reason: 'Any USDC account of who signs will do; of the treasury, any at all.',
  },
  {
    where: ['withdraw_treasury.destination'],
    mutation: "another user's",
    effect: 'succeeds',
    reason: 'The admin sends fees to any USDC account.',
  },
  {
    where: SETTLES.map((title) => `${title}.payout`),
    mutation: 'wrong PDA',
    effect: 'succeeds',
    reason: "Any USDC account of the creator's will do, so that a change of the listing's payout fails no settle.",
  },
  {
    where: ['open_execution_with_grant.spender', 'withdraw_gas.spender'],
    mutation: 'wrong owner',
    effect: 'refused below',
    reason: 'A gas balance belongs to the system program, which moves its lamports. Nothing else can change its owner.',
  },
  ...(['wrong PDA', "another user's", 'type cosplay'] as const).map(
    (mutation): Exception => ({ where: NAMED, mutation, effect: 'succeeds', reason: NAMED_REASON }),
  ),
  {
    where: NAMED,
    mutation: 'duplicated',
    variants: ['payer', 'config', 'usdc_mint'].map((name) => `${name} in its place`),
    effect: 'succeeds',
    reason: NAMED_REASON,
  },
  ...Object.entries(NAMEABLE).map(
    ([title, names]): Exception => ({
      where: [`${title}.rent_sponsor`],
      mutation: 'duplicated',
      variants: names.map((name) => `${name} in its place`),
      effect: 'succeeds',
      reason: NAMED_REASON,
    }),
  ),
  {
    where: ['open_execution_with_grant.rent_sponsor'],
    mutation: 'duplicated',
    variants: ['spender in its place'],
    effect: { between: ['payer', 'spender'] },
    reason: 'A gas balance that is the rent sponsor lends the rent itself, as its wallet allowed by filling it.',
  },
  {
    where: PAID_RELAYS.filter((place) => !place.startsWith('refund_execution by the relay')),
    mutation: 'closed',
    effect: { between: ['rent_sponsor'] },
    reason: 'A relay without lamports cannot be given so few; the rent sponsor gets the gas, and the money moves on.',
  },
  {
    where: ['refund_execution by the relay.authority'],
    mutation: 'closed',
    effect: { between: ['spender'] },
    reason: 'A relay without lamports cannot be given so few; the gas balance that paid the gas gets it back.',
  },
  {
    where: GAS_BALANCES,
    mutation: 'wrong owner',
    effect: 'succeeds',
    reason: 'It only receives lamports, and any address can.',
  },
  {
    where: GAS_BALANCES,
    mutation: 'closed',
    effect: 'succeeds',
    reason: 'An empty gas balance can receive the rent that it lent, and then any gas.',
  },
  ...(['wrong owner', 'closed', 'wrong PDA', 'duplicated', "another user's", 'type cosplay'] as const).map(
    (mutation): Exception => ({
      where: [
        'refund_execution of what the wallet opened itself.spender',
        'settle_execution of what the wallet opened itself.spender',
      ],
      mutation,
      effect: 'succeeds',
      reason: 'If no gas balance paid the gas, none gets it back, whichever account is given instead.',
    }),
  ),
  {
    where: CARRIERS.map((name) => `${name}.event_authority`),
    mutation: 'wrong owner',
    effect: 'succeeds',
    reason: 'It is only an address, which signs.',
  },
  {
    where: ['create_archive.tree'],
    mutation: 'wrong PDA',
    effect: 'succeeds',
    reason: 'Any new account of the right size may become the tree.',
  },
  {
    where: ['create_archive.tree'],
    mutation: "another user's",
    effect: 'succeeds',
    reason: 'Whoever made the account gave it to this program, for a tree.',
  },
  {
    where: ['create_archive.tree'],
    mutation: 'closed',
    variants: ['wiped to zeros'],
    effect: 'succeeds',
    reason: 'All zero is what it must be.',
  },
  {
    where: ['archive_executions', 'move_unclaimed_refund', 'move_unclaimed_deposit'].map((name) => `${name}.tree`),
    mutation: 'wrong owner',
    effect: 'refused below',
    reason: "A tree's account never leaves the program; the runtime lets nobody else write it.",
  },
  {
    where: ['open_dispute_with_proof.tree', 'claim_refund.tree'],
    mutation: 'wrong owner',
    effect: 'succeeds',
    reason: "The archive names the tree, and a tree's account never leaves the program.",
  },
  ...(['wrong owner', 'type cosplay'] as const).map(
    (mutation): Exception => ({
      where: ['open_dispute_with_proof.record'],
      mutation,
      ...(mutation === 'type cosplay' && { variants: TYPES.map((type) => `its bytes as ${type}`) }),
      effect: 'succeeds',
      reason: 'It is only an address. The record that was there is a leaf, and the proof shows its fields.',
    }),
  ),
  {
    where: ['move_unclaimed_refund.destination', 'move_unclaimed_deposit.destination'],
    mutation: 'wrong owner',
    effect: 'succeeds',
    reason: 'What cannot receive is what it is for.',
  },
  {
    where: ['move_unclaimed_refund.destination', 'move_unclaimed_deposit.destination'],
    mutation: 'other mint',
    variants: ['there already, of another mint'],
    effect: 'succeeds',
    reason: 'What cannot receive is what it is for.',
  },
  ...(['wrong owner', 'closed'] as const).map(
    (mutation): Exception => ({ where: GRANTS, mutation, effect: 'succeeds', reason: GONE_GRANT }),
  ),
  {
    where: GRANTS,
    mutation: 'type cosplay',
    variants: TYPES.filter((type) => type !== 'KeyGrant').map((type) => `its bytes as ${type}`),
    effect: 'succeeds',
    reason: GONE_GRANT,
  },
  ...(['wrong owner', 'wrong PDA', 'duplicated', "another user's", 'type cosplay'] as const).map(
    (mutation): Exception => ({
      where: ['refund_execution of what the wallet opened itself.grant'],
      mutation,
      effect: 'succeeds',
      reason: 'Where no grant paid, none gets anything back, whatever stands in its place.',
    }),
  ),
  {
    where: [...INITIALIZED, ...INITIALIZED_IF_NEEDED, ...INITIALIZED_BY],
    mutation: 'read-only',
    effect: 'refused below',
    reason: 'The system program is asked to make the account first, and the runtime refuses that.',
  },
  ...(['wrong owner', 'type cosplay'] as const).map(
    (mutation): Exception => ({
      where: INITIALIZED,
      mutation,
      ...(mutation === 'type cosplay' && { variants: TYPES.map((type) => `its bytes as ${type}`) }),
      effect: 'refused below',
      reason: 'The system program refuses to make an account again.',
    }),
  ),
  {
    where: ['set_creator_verified a second time.profile', 'rotate_signing_key back to an earlier key.signing_key'],
    mutation: 'closed',
    variants: ['gone', 'emptied, its lamports left'],
    effect: { between: ['payer'] },
    reason: 'It is made where there is none.',
  },
  {
    where: ['set_creator_verified a second time.profile', 'rotate_signing_key back to an earlier key.signing_key'],
    mutation: 'wrong owner',
    variants: ["the system program's"],
    effect: 'refused below',
    reason:
      'Nothing can have data at such an address and belong to the system program, which refuses to make it again.',
  },
  ...UNUSABLE.flatMap((change): Exception[] => [
    {
      where: SETTLES.map((title) => `${title}.treasury`),
      ...change,
      effect: { tokens: { escrow: -PRICE, payout: PRICE } },
      reason: 'A treasury that cannot receive never keeps a creator from being paid: there is no fee.',
    },
    {
      where: ['open_execution_from_deposit.treasury'],
      ...change,
      effect: { tokens: { vault: -PAID, escrow: PAID } },
      reason: 'A treasury that cannot receive never keeps a caller from being served: its share waits in the escrow.',
    },
    {
      where: ['refund_deposit by the relay.treasury'],
      ...change,
      effect: { tokens: { vault: -PAID, destination: PAID } },
      reason: 'A treasury that cannot receive never keeps a caller from its money.',
    },
    {
      where: ['refund_deposit by anyone once it has expired.treasury', 'move_unclaimed_deposit.treasury'],
      ...change,
      effect: 'succeeds',
      reason: 'Where no relay refunds, the treasury gets nothing.',
    },
    {
      where: ['resolve_dispute for the caller.destination'],
      ...change,
      effect: { tokens: {} },
      reason: "The caller's part stays in the vault, owed, until its account can receive.",
    },
    {
      where: ['return_collateral.treasury'],
      ...change,
      effect: 'succeeds',
      reason: 'A treasury that cannot receive never keeps a creator from its collateral: forfeits stay in the vault.',
    },
    {
      where: ['resolve_dispute against the caller.destination'],
      ...change,
      effect: 'succeeds',
      reason: 'No token moves when a dispute is rejected.',
    },
  ]),
  ...MINT_CHANGES.map(
    (change): Exception => ({ where: MINTS, ...change, effect: 'refused below', reason: MINT_REASON }),
  ),
  {
    where: ['resolve_dispute for the caller.destination'],
    mutation: "another user's",
    variants: ['given to a stranger'],
    effect: { tokens: {} },
    reason: "An account that is no longer the caller's is not paid; the award stays owed.",
  },
  {
    where: [
      ...SETTLES.map((title) => `${title}.treasury`),
      'open_execution_from_deposit.treasury',
      'refund_deposit.treasury',
      'return_collateral.treasury',
      'sweep_forfeits.treasury',
      'move_unclaimed_deposit.treasury',
      'move_unclaimed_refund.unclaimed',
      'move_unclaimed_deposit.unclaimed',
      'resolve_dispute against the caller.destination',
      'resolve_dispute against the caller.collateral_vault',
      'top_up_collateral.collateral_vault',
    ],
    mutation: "another user's",
    variants: ['given to a stranger'],
    effect: 'succeeds',
    reason:
      'Only this program could give its own account away, and it has no instruction for that; nothing leaves it here.',
  },
  {
    where: [...MOVED, 'resolve_dispute for the caller.collateral_vault'],
    mutation: "another user's",
    variants: ['given to a stranger'],
    effect: 'refused below',
    reason: 'Only this program could give its own account away; then the token program would not move what is in it.',
  },
  {
    where: MOVED,
    mutation: 'other mint',
    variants: ['of another mint'],
    effect: 'refused below',
    reason: "A token account's mint never changes; the token program refuses to mix two.",
  },
  {
    where: ['resolve_dispute for the caller.collateral_vault'],
    mutation: 'other mint',
    variants: ['of another mint'],
    effect: { tokens: {} },
    reason: "A token account's mint never changes; a vault that cannot move its tokens keeps the award as owed.",
  },
  {
    where: ['resolve_dispute against the caller.collateral_vault'],
    mutation: 'other mint',
    variants: ['of another mint'],
    effect: 'succeeds',
    reason: 'No token moves when a dispute is rejected.',
  },
];

/** True if the place in an exception names this account. */
export function names(place: string, target: Target): boolean {
  if (place === '@authority') return target.signer && !target.writable;
  if (place === '@payer') return target.signer && target.name === 'payer';
  const [moment, account] = place.split('.');
  return (moment === '*' || moment === target.instruction || moment === target.title) && account === target.name;
}
