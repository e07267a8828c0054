import { cut } from '../html/page-text.ts';
import type { TypedEvidence } from './evidence.ts';
import {
  FIELD_READERS,
  type FieldSource,
  type Fields,
  type ReadingContext,
  SOURCES,
  type ValueOf,
} from './field.ts';

export interface FieldOrigin {
  readonly source: FieldSource;
  /** Probability that the value is right, between 0 and 1. */
  readonly confidence: number;
}

/** A value that was found but could not be parsed, which is ignored; or an error of a plug-in. */
export interface TypedFieldProblem {
  /** Empty: the whole record. */
  readonly field: string;
  readonly code?: 'PLUGIN_FAILED';
  readonly source: FieldSource;
  readonly message: string;
}

interface Held extends FieldOrigin {
  readonly value: unknown;
}

const MOST_PROBLEMS = 50;
/** Upper bound, however many sources agree. */
const MOST_CONFIDENCE = 0.99;

/** Confidence of a value from one source alone. */
export const TRUST: Readonly<Record<FieldSource, number>> = {
  'json-ld': 0.95,
  microdata: 0.93,
  rdfa: 0.9,
  'embedded-state': 0.85,
  'open-graph': 0.8,
  meta: 0.7,
  markup: 0.65,
  text: 0.45,
  url: 0.4,
};

/**
 * Collects candidate values for the fields of a record. The most trusted source of a field wins, the earlier of equals;
 * other sources with the same value raise its confidence.
 */
export class Draft<F extends Fields> {
  readonly problems: TypedFieldProblem[] = [];
  readonly #fields: F;
  readonly #context: ReadingContext;
  readonly #held = new Map<keyof F, Held>();

  constructor(fields: F, context: ReadingContext) {
    this.#fields = fields;
    this.#context = context;
  }

  /** Adds a raw value of a source for a field. Null and empty values are ignored; values that cannot be parsed are problems. */
  give(name: keyof F & string, raw: unknown, source: FieldSource, confidence = TRUST[source]): void {
    if (isNothing(raw)) return;
    const field = this.#fields[name];
    const value: unknown = field === undefined ? null : FIELD_READERS[field.kind](raw, this.#context);
    if (value === null) {
      if (this.problems.length < MOST_PROBLEMS) {
        const kind = field?.kind ?? 'field';
        this.problems.push({ field: name, source, message: `not a ${kind}: ${shown(raw)}` });
      }
      return;
    }
    const held = this.#held.get(name);
    if (held === undefined || SOURCES.indexOf(source) < SOURCES.indexOf(held.source)) {
      const support = held !== undefined && isAlike(held.value, value) ? held.confidence : 0;
      this.#held.set(name, { value, source, confidence: together(confidence, support) });
    } else if (held.source !== source && isAlike(held.value, value)) {
      this.#held.set(name, { ...held, confidence: together(held.confidence, confidence) });
    }
  }

  has(name: keyof F): boolean {
    return this.#held.has(name);
  }

  sourceOf(name: keyof F): FieldSource | null {
    return this.#held.get(name)?.source ?? null;
  }

  get<N extends keyof F>(name: N): ValueOf<F>[N] | null {
    return (this.#held.get(name)?.value ?? null) as ValueOf<F>[N] | null;
  }

  finish(): { value: ValueOf<F>; by: Record<string, FieldOrigin> } {
    const value: Record<string, unknown> = {};
    const by: Record<string, FieldOrigin> = {};
    for (const name of Object.keys(this.#fields)) {
      const held = this.#held.get(name);
      value[name] = held?.value ?? null;
      if (held !== undefined) by[name] = { source: held.source, confidence: round(held.confidence) };
    }
    return { value: value as ValueOf<F>, by };
  }
}

function isNothing(raw: unknown): boolean {
  if (raw === null || raw === undefined) return true;
  if (typeof raw === 'string') return raw.trim() === '';
  if (Array.isArray(raw)) return raw.length === 0;
  return typeof raw === 'object' && Object.keys(raw).length === 0;
}

/** A second source at most halves the remaining doubt. */
function together(confidence: number, support: number): number {
  return support === 0 ? confidence : Math.min(MOST_CONFIDENCE, 1 - (1 - confidence) * (1 - support / 2));
}

function isAlike(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') return one.toLowerCase() === other.toLowerCase();
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

const round = (confidence: number): number => Math.round(confidence * 100) / 100;

function shown(raw: unknown): string {
  return cut(typeof raw === 'string' ? raw.trim() : (JSON.stringify(raw) ?? ''), 80);
}

/** A kind of page that extraction knows. One file each; the registry lists them. */
export interface TypeSpec<F extends Fields = Fields> {
  readonly name: string;
  readonly says: string;
  /** Every field may be null. */
  readonly fields: F;
  /** Score for the page being of this type, between 0 and 1. Cheap: does not read all fields. */
  weigh(evidence: TypedEvidence): number;
  /** Adds values to the draft: from structured data, then embedded state, markup and text. */
  read(evidence: TypedEvidence, draft: Draft<F>): void;
}

/** Types the fields for `read`, and erases them for the registry. */
export function defineType<F extends Fields>(spec: TypeSpec<F>): TypeSpec {
  return spec as unknown as TypeSpec;
}
