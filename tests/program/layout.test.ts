/**
 * The bytes of each account on chain. A change here is one that earlier clients and accounts do not survive.
 * `build:program --check` compares the IDL with the source. The archive's tree is not in the IDL.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { idl } from '../../app/sdk/program/idl/idl.ts';
import type { IdlType } from '../../app/sdk/program/idlTypes.ts';

const ACCOUNTS = `
AgentListing 189 { version:u8 status:Active|Paused|Delisted bump:u8 creator:pubkey listing_id:u8[16] payout:pubkey
  signing_key:pubkey price:u64 timeout_seconds:u32 min_timeout_seconds:u32 listing_version:u32 tag_mask:u16
  metadata_hash:u8[32] listed_at:i64 metadata_uri:string }
Archive 56 { version:u8 bump:u8 index:u16 tree:pubkey count:u32 created_at:i64 }
Config 555 { version:u8 admin_paused:bool guardian_paused:bool fee_bps:u16 tier_count:u8 relay_authority_count:u8
  admin:pubkey guardian:pubkey usdc_mint:pubkey min_price:u64 dispute_bond_lamports:u64 dispute_window_seconds:u32
  refund_grace_seconds:u32 max_timeout_seconds:u32 record_seconds:u32 longest_span_seconds:u32 exposure_multiple:u32
  admin_delay_seconds:u32 changes_valid_from:i64 admin_since:i64 tiers:{ max_price:u64 deposit:u64 }[4]
  relay_authorities:pubkey[8] reserved:u8[64] }
CreatorCollateral 168 { version:u8 returned:bool bump:u8 vault_bump:u8 listing:pubkey rent_sponsor:pubkey
  deposited:u64 slashed:u64 owed:u64 forfeited:u64 exposure_opened:u64 exposure_window_start:i64 returnable_at:i64
  sweepable_at:i64 open_disputes:u32 reserved:u8[24] }
CreatorProfile 51 { version:u8 bump:u8 verified:bool creator:pubkey verified_at:i64 }
Deposit 139 { version:u8 bump:u8 vault_bump:u8 hash:u8[32] caller:pubkey rent_sponsor:pubkey price:u64 service_fee:u64
  prepared_at:i64 expires_at:i64 }
Dispute 275 { version:u8 outcome:Open|Rejected|Upheld|Lapsed bump:u8 record:pubkey execution_id:u8[16] listing:pubkey
  caller:pubkey rent_sponsor:pubkey evidence_hash:u8[32] reason_hash:u8[32] opened_at:i64 bond:u64 price:u64
  amount_to_caller:u64 amount_slashed:u64 owed:u64 resolved_at:i64 }
ExecutionRecord 295 { version:u8 status:Open|Completed|Refunded execution_id:u8[16] listing:pubkey caller:pubkey
  price:u64 settled_at:i64 dispute_window_seconds:u32 bump:u8 escrow_bump:u8 spender_bump:u8 signing_key:pubkey
  key_id:u8[16] rent_sponsor:pubkey request_hash:u8[32] result_hash:u8[32] opened_at:i64 deadline:i64 refund_at:i64
  listing_version:u32 execution_time_ms:u32 gas_lamports:u32 fee_bps:u16 }
KeyGrant 197 { version:u8 revoked:bool bump:u8 spender_bump:u8 source_bump:u8 wallet:pubkey key_id:u8[16]
  rent_sponsor:pubkey per_execution_max:u64 period_max:u64 total_max:u64 period_seconds:u32 expires_at:i64
  created_at:i64 period_start:i64 period_spent:u64 total_spent:u64 execution_count:u64 last_opened_at:i64
  max_gas_lamports:u32 reserved:u8[16] }
PendingChange 83 { version:u8 bump:u8 change_id:u64 rent_sponsor:pubkey proposed_at:i64 due_at:i64 details:{
  settings:{ lift_guardian_pause:bool fee_bps:u16? min_price:u64? dispute_bond_lamports:u64?
  dispute_window_seconds:u32? refund_grace_seconds:u32? max_timeout_seconds:u32? record_seconds:u32?
  exposure_multiple:u32? admin_delay_seconds:u32? tiers:{ max_price:u64 deposit:u64 }[]? }
  added_relay_authorities:pubkey[] guardian:pubkey? admin:pubkey? } }
SigningKey 74 { version:u8 bump:u8 key:pubkey listing:pubkey }
`;

const definitions = new Map(idl.types.map(({ name, type }) => [name, type]));
const BYTES: Record<string, number> = { bool: 1, u8: 1, u16: 2, u32: 4, u64: 8, i64: 8, pubkey: 32, string: 4 };

/** Text and bytes of a type; the bytes without elements of a list, characters and optional values. */
function layoutOf(type: IdlType): [string, number] {
  if (typeof type === 'string') return [type, BYTES[type]!];
  if ('option' in type) return [`${layoutOf(type.option)[0]}?`, 1];
  if ('vec' in type) return [`${layoutOf(type.vec)[0]}[]`, 4];
  if ('array' in type) {
    const [text, bytes] = layoutOf(type.array[0]);
    return [`${text}[${type.array[1]}]`, bytes * type.array[1]];
  }
  const definition = definitions.get(type.defined.name)!;
  if (definition.kind === 'enum') return [definition.variants.map(({ name }) => name).join('|'), 1];
  const fields = definition.fields.map((field) => ({ name: field.name, layout: layoutOf(field.type) }));
  const text = fields.map(({ name, layout }) => `${name}:${layout[0]}`).join(' ');
  return [`{ ${text} }`, fields.reduce((sum, { layout }) => sum + layout[1], 0)];
}

describe('accounts on chain', () => {
  it('have these bytes, after the first eight of the SHA-256 of their name', () => {
    const found = idl.accounts.map(({ name, discriminator }) => {
      const hash = createHash('sha256').update(`account:${name}`).digest();
      expect(discriminator, name).to.deep.equal([...hash.subarray(0, 8)]);
      const [text, bytes] = layoutOf({ defined: { name } });
      return `${name} ${8 + bytes} ${text}`;
    });
    const accounts = ACCOUNTS.trim().split(/\n(?=\S)/);
    expect(found).to.deep.equal(accounts.map((text) => text.replace(/\s+/g, ' ')));
  });
});
