/** One part of the bench; bench/main.ts has the table of all parts. */
import type { Goal } from './figures.ts';

export interface Settings {
  /** Fewer rounds, calls and sizes, for a quick estimate. */
  quick: boolean;
  /** Slot time of the local node. */
  slotMs: number;
  /** If set, lists are measured only at this number of executions. */
  executions: number | undefined;
  /** Lists are measured on PostgreSQL instead of SQLite. */
  postgres: boolean;
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
  /** Runs only if selected with `--only`. */
  onRequest?: true;
  run(settings: Settings): Promise<Measured>;
}
