import type { Draft } from './draft.ts';
import type { Evidence } from './evidence.ts';
import type { Fields } from './field.ts';

/** A kind of page that extraction knows. One file each; the registry lists them. */
export interface TypeSpec<F extends Fields = Fields> {
  readonly name: string;
  readonly says: string;
  /** Every field may be null. */
  readonly fields: F;
  /** How much speaks for the page being of this type, between 0 and 1. Looks, never reads everything. */
  weigh(evidence: Evidence): number;
  /** Gives the draft what it finds: structured data, then embedded state, markup and text. */
  read(evidence: Evidence, draft: Draft<F>): void;
}

/** Lets the compiler know the fields in `read`, and the registry forget them. */
export function defineType<F extends Fields>(spec: TypeSpec<F>): TypeSpec {
  return spec as unknown as TypeSpec;
}
