import type { Sample } from './sample.ts';

/** One measurement of the whole, run by its name. */
export interface Part {
  readonly name: string;
  run(options: BenchOptions): Promise<PartResult>;
}

export interface BenchOptions {
  /** Less of everything: shows that it works, not what it can do. */
  readonly isQuick: boolean;
  /** A folder with real pages for the part that wants some; null: none. */
  readonly pagesDir: string | null;
  /** A folder for whatever the measurement writes, on the disk of the project; emptied before and after. */
  readonly scratch: string;
  readonly say: (line: string) => void;
}

export interface PartResult {
  readonly title: string;
  /** What was done, in a sentence or two. */
  readonly about: string;
  readonly tables: readonly Table[];
  readonly bars: readonly Bar[];
  /** What a reader must know to read the figures right. */
  readonly notes: readonly string[];
  /** Everything measured, for machines. */
  readonly data: unknown;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A figure that has to be reached. */
export interface Bar {
  readonly claim: string;
  readonly measured: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly unit: string;
  /** The spread over rounds, where there were several. */
  readonly spread?: Sample;
}

export function isMet({ measured, atLeast, atMost }: Bar): boolean {
  if (Number.isNaN(measured)) return false;
  return (atLeast === undefined || measured >= atLeast) && (atMost === undefined || measured <= atMost);
}
