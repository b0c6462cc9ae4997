/**
 * The program's constants, read from the generated IDL. Separate from addresses.ts, so that command-line help can name
 * a limit without loading the address code.
 */
import { idl, type LiteralIdl } from './idl/idl.ts';
import { type CamelCase, toCamel } from './idlValues.ts';

/** The bytes of a constant, such as a seed. */
export function constantBytes(name: string): Uint8Array {
  const constant = idl.constants.find((candidate) => candidate.name === name);
  if (!constant) throw new RangeError(`the program has no constant ${name}`);
  return Uint8Array.from(JSON.parse(constant.value) as number[]);
}

/** Precedes a record's address and fields in the bytes that its leaf hashes. */
export const ARCHIVE_LEAF_DOMAIN = constantBytes('ARCHIVE_LEAF_DOMAIN');

/** Precedes an unclaimed refund's fields in the bytes that its leaf hashes. */
export const UNCLAIMED_LEAF_DOMAIN = constantBytes('UNCLAIMED_LEAF_DOMAIN');

type Plain = Exclude<LiteralIdl['constants'][number], { type: 'bytes' }>;

/**
 * The program's limits, by their names in camel case. Amounts are base units of USDC unless named lamports; times are
 * seconds. A u64 is a bigint, all others are numbers.
 */
export const constants = Object.fromEntries(
  idl.constants
    .filter(({ type }) => type !== 'bytes')
    .map(({ name, type, value }) => [toCamel(name.toLowerCase()), type === 'u64' ? BigInt(value) : Number(value)]),
) as {
  readonly [Constant in Plain as CamelCase<Lowercase<Constant['name']>>]: Constant['type'] extends 'u64'
    ? bigint
    : number;
};
