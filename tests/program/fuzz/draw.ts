/**
 * Turns fast-check's numbers into a step's choices. Zero always means the plain, valid choice, so failing sequences
 * shrink towards ordinary steps.
 */
export type Picks = readonly number[];

/** Numbers per step. A step that needs more reuses them. */
export const PICKS = 16;
export const LARGEST_PICK = 0xffff;

export class Draw {
  private next = 0;

  constructor(private readonly picks: Picks) {}

  private number(): number {
    const value = this.picks[this.next % this.picks.length] ?? 0;
    // A second round must not repeat the first one.
    const turn = Math.floor(this.next / Math.max(1, this.picks.length));
    this.next += 1;
    return value === 0 ? 0 : (value * (2 * turn + 1)) % (LARGEST_PICK + 1);
  }

  /** One of the values; zero chooses the first. */
  of<Value>(values: readonly Value[]): Value {
    const value = values[this.number() % values.length];
    if (values.length === 0) throw new RangeError('there is nothing to choose from');
    return value as Value;
  }

  /** True in this percentage of cases; never for zero. */
  maybe(percent: number): boolean {
    return this.number() % 100 >= 100 - percent;
  }

  /** 'none' in four of five steps, else one of these faults. */
  fault<Name extends string>(...faults: Name[]): Name | 'none' {
    return this.maybe(20) ? this.of(faults) : 'none';
  }

  /** A value that is wanted, or undefined if there is none. In one of ten cases, any value. */
  prefer<Value>(values: Iterable<Value>, wanted: (value: Value) => boolean): Value | undefined {
    const all = [...values];
    const choices = this.maybe(10) ? all : all.filter(wanted);
    return choices.length > 0 ? this.of(choices) : undefined;
  }

  /** A value that is wanted if there is one, else any. `values` must not be empty. */
  lean<Value>(values: readonly Value[], wanted: (value: Value) => boolean): Value {
    return this.prefer(values, wanted) ?? this.of(values);
  }

  /** A whole number from 0 to `limit` inclusive. */
  upTo(limit: bigint): bigint {
    const value = BigInt(this.number()) * 65_537n + BigInt(this.number());
    return limit <= 0n ? 0n : value % (limit + 1n);
  }
}
