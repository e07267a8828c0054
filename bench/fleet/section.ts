import type { Bar, Table } from '../part.ts';

/** The answer to one of the questions that this part asks. */
export interface Section {
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
  readonly notes: readonly string[];
  readonly data: unknown;
}
