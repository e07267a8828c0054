import { Draft, type FieldOrigin, type TypedFieldProblem, type TypeSpec } from './draft.ts';
import { TypedEvidence, type TypedPage } from './evidence.ts';
import { TYPE_NAMES, TYPES, type TypeName } from './registry.ts';

export interface TypedResult {
  /** Null when `auto` found no type. */
  readonly type: TypeName | null;
  /** Every field of the type, null where the page has no value; null without a type. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Source and confidence of every field that is not null. */
  readonly by: Readonly<Record<string, FieldOrigin>>;
  /** Values that were found but could not be parsed. */
  readonly problems: readonly TypedFieldProblem[];
  /** How likely the page is of the type, between 0 and 1, by evidence on the page; 0 without a type. */
  readonly confidence: number;
}

/** `auto` chooses a type that is at least as likely. */
export const LEAST_PROBABILITY = 0.3;

/** Extracts a typed record from a page. Pure, bounded by the limits of tree, data and state; never throws. */
export function extractTyped(page: TypedPage, type: TypeName | 'auto'): TypedResult {
  const evidence = new TypedEvidence(page);
  const chosen = type === 'auto' ? likeliest(evidence) : type;
  if (chosen === null) return { type: null, value: null, by: {}, problems: [], confidence: 0 };
  const spec: TypeSpec = TYPES[chosen];
  const draft = new Draft(spec.fields, evidence.context());
  spec.read(evidence, draft);
  const { value, by } = draft.finish();
  return { type: chosen, value, by, problems: draft.problems, confidence: spec.weigh(evidence) };
}

/** The type with the highest score, the first of the registry among equals; null below the lowest score. */
function likeliest(evidence: TypedEvidence): TypeName | null {
  let best: TypeName | null = null;
  let most = LEAST_PROBABILITY;
  for (const name of TYPE_NAMES) {
    const weight = TYPES[name].weigh(evidence);
    if (weight <= most) continue;
    best = name;
    most = weight;
  }
  return best;
}
