import type { Bar, Table } from '../part.ts';

/** One of the questions that the part asks, answered. */
export interface Section {
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
  readonly notes: readonly string[];
  readonly data: unknown;
}
