/**
 * The program's constants, read from the generated IDL. Separate from addresses.ts, so that command-line help can name
 * a limit without loading the address code.
 */
import { idl } from './idl/idl.ts';

/** A constant's text in the IDL. */
export function constantText(name: string): string {
  const constant = idl.constants.find((candidate) => candidate.name === name);
  if (!constant) throw new RangeError(`the program has no constant ${name}`);
  return constant.value;
}

/** The bytes of a constant, such as a seed. */
export function constantBytes(name: string): Uint8Array {
  return Uint8Array.from(JSON.parse(constantText(name)) as number[]);
}

/** Precedes a record's address and fields in the bytes that its leaf hashes. */
export const ARCHIVE_LEAF_DOMAIN = constantBytes('ARCHIVE_LEAF_DOMAIN');

/** Precedes an unclaimed refund's fields in the bytes that its leaf hashes. */
export const UNCLAIMED_LEAF_DOMAIN = constantBytes('UNCLAIMED_LEAF_DOMAIN');

/** The program's limits, from the IDL. Amounts are base units of USDC unless named lamports; times are seconds. */
export const constants = {
  bpsDenominator: BigInt(constantText('BPS_DENOMINATOR')),
  maxFeeBps: Number(constantText('MAX_FEE_BPS')),
  usdcDecimals: Number(constantText('USDC_DECIMALS')),
  minPriceFloor: BigInt(constantText('MIN_PRICE_FLOOR')),
  minPriceCeiling: BigInt(constantText('MIN_PRICE_CEILING')),
  disputeWindowSecondsMin: Number(constantText('DISPUTE_WINDOW_SECONDS_MIN')),
  disputeWindowSecondsMax: Number(constantText('DISPUTE_WINDOW_SECONDS_MAX')),
  refundGraceSecondsMin: Number(constantText('REFUND_GRACE_SECONDS_MIN')),
  refundGraceSecondsMax: Number(constantText('REFUND_GRACE_SECONDS_MAX')),
  maxTimeoutSecondsMin: Number(constantText('MAX_TIMEOUT_SECONDS_MIN')),
  maxTimeoutSecondsMax: Number(constantText('MAX_TIMEOUT_SECONDS_MAX')),
  recordSecondsMin: Number(constantText('RECORD_SECONDS_MIN')),
  recordSecondsMax: Number(constantText('RECORD_SECONDS_MAX')),
  disputeBondLamportsMax: BigInt(constantText('DISPUTE_BOND_LAMPORTS_MAX')),
  exposureMultipleMax: Number(constantText('EXPOSURE_MULTIPLE_MAX')),
  tierPriceMax: BigInt(constantText('TIER_PRICE_MAX')),
  tierDepositMax: BigInt(constantText('TIER_DEPOSIT_MAX')),
  slashMultiple: BigInt(constantText('SLASH_MULTIPLE')),
  changeSeconds: Number(constantText('CHANGE_SECONDS')),
  guardianChangeSeconds: Number(constantText('GUARDIAN_CHANGE_SECONDS')),
  maxCollateralTiers: Number(constantText('MAX_COLLATERAL_TIERS')),
  maxUriLength: Number(constantText('MAX_URI_LENGTH')),
  standardTagCount: Number(constantText('STANDARD_TAG_COUNT')),
  maxTags: Number(constantText('MAX_TAGS')),
  maxGrantSeconds: Number(constantText('MAX_GRANT_SECONDS')),
  maxRelayAuthorities: Number(constantText('MAX_RELAY_AUTHORITIES')),
  maxGasLamports: Number(constantText('MAX_GAS_LAMPORTS')),
  defaultMaxGasLamports: Number(constantText('DEFAULT_MAX_GAS_LAMPORTS')),
  maxServiceFee: BigInt(constantText('MAX_SERVICE_FEE')),
  depositSeconds: Number(constantText('DEPOSIT_SECONDS')),
  unfundedDepositSeconds: Number(constantText('UNFUNDED_DEPOSIT_SECONDS')),
  unclaimedSeconds: Number(constantText('UNCLAIMED_SECONDS')),
  unarchivedRecordSeconds: Number(constantText('UNARCHIVED_RECORD_SECONDS')),
  disputeLapseSeconds: Number(constantText('DISPUTE_LAPSE_SECONDS')),
  endedDisputeSeconds: Number(constantText('ENDED_DISPUTE_SECONDS')),
  archiveDepth: Number(constantText('ARCHIVE_DEPTH')),
  archiveProofNodes: Number(constantText('ARCHIVE_PROOF_NODES')),
  archiveBuffer: Number(constantText('ARCHIVE_BUFFER')),
  archiveCapacity: Number(constantText('ARCHIVE_CAPACITY')),
  archiveSuccessorCount: Number(constantText('ARCHIVE_SUCCESSOR_COUNT')),
  recordHeadBytes: Number(constantText('RECORD_HEAD_BYTES')),
  archiveTreeBytes: Number(constantText('ARCHIVE_TREE_BYTES')),
  maxArchivedRecords: Number(constantText('MAX_ARCHIVED_RECORDS')),
} as const;
