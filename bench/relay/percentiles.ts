/** Two numbers for many. */
import { median, quantile } from '../program/table.ts';

export interface Percentiles {
  p50: number;
  p99: number;
}

export const percentiles = (values: number[]): Percentiles => ({ p50: median(values), p99: quantile(values, 0.99) });
