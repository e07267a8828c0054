import { Draft, type FieldOrigin, type FieldProblem } from './draft.ts';
import { Evidence, type TypedPage } from './evidence.ts';
import { TYPE_NAMES, TYPES, type TypeName } from './registry.ts';
import type { TypeSpec } from './type-spec.ts';

export interface TypedResult {
  /** Null when `auto` found nothing that it would call by a name. */
  readonly type: TypeName | null;
  /** Every field of the type, null where the page does not say; null without a type. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Source and confidence of every field that is not null. */
  readonly by: Readonly<Record<string, FieldOrigin>>;
  /** Values that were found and could not be read. */
  readonly problems: readonly FieldProblem[];
  /** How much speaks for the type, between 0 and 1. */
  readonly confidence: number;
}

/** Below this, `auto` prefers to say nothing. */
const LEAST_EVIDENCE = 0.3;

/** Reads a page as a thing of a type. Pure, bounded by the limits of tree, data and state, and without a way to fail. */
export function extractTyped(page: TypedPage, type: TypeName | 'auto'): TypedResult {
  const evidence = new Evidence(page);
  const chosen = type === 'auto' ? likeliest(evidence) : type;
  if (chosen === null) return { type: null, value: null, by: {}, problems: [], confidence: 0 };
  const spec: TypeSpec = TYPES[chosen];
  const draft = new Draft(spec.fields, evidence.context());
  spec.read(evidence, draft);
  const { value, by } = draft.finish();
  return { type: chosen, value, by, problems: draft.problems, confidence: spec.weigh(evidence) };
}

/** The type most speaks for, the first in the registry's order among equals; null when too little speaks for any. */
function likeliest(evidence: Evidence): TypeName | null {
  let best: TypeName | null = null;
  let most = LEAST_EVIDENCE;
  for (const name of TYPE_NAMES) {
    const weight = TYPES[name].weigh(evidence);
    if (weight <= most) continue;
    best = name;
    most = weight;
  }
  return best;
}
