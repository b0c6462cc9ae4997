/** One part of the bench; bench/main.ts has the table of all parts. */
import type { Goal } from './figures.ts';

export interface Settings {
  /** Fewer rounds and calls, for a quick estimate. */
  quick: boolean;
  /** Slot time of the local node. */
  slotMs: number;
  /** Reports progress. */
  report(line: string): void;
}

export interface Measured {
  /** Printed by `--json`. */
  figures: unknown;
  /** The same figures as a Markdown table. */
  table: string;
  goals?: Goal[];
}

export interface Part {
  /** One line for `--help`. */
  about: string;
  run(settings: Settings): Promise<Measured>;
}
