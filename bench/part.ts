/** One part of the bench; bench/main.ts has the table of all parts. */
import type { Goal } from './figures.ts';

export interface Settings {
  /** Fewer rounds, calls and sizes, for a first look. */
  quick: boolean;
  /** Slot time of the local node. */
  slotMs: number;
  /** Measure lists at this many executions only. */
  executions: number | undefined;
  /** Hears the progress. */
  report(line: string): void;
}

export interface Measured {
  /** Printed by `--json`. */
  figures: unknown;
  /** The same for people, in Markdown. */
  table: string;
  goals?: Goal[];
}

export interface Part {
  /** One line for `--help`. */
  about: string;
  /** Runs only when it is asked for with `--only`. */
  onRequest?: true;
  run(settings: Settings): Promise<Measured>;
}
