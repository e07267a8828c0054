import type { Budget } from '../budget.ts';
import { RULE_LIMITS } from '../rule-limits.ts';
import { RuleSyntaxError } from '../rule-problem.ts';
import { evaluateQuery } from './evaluate.ts';
import { parseQuery } from './parse-query.ts';

/** A JSONPath query (RFC 9535) ready to run on any value. */
export interface CompiledJsonPath {
  readonly source: string;
  /** The values found, at most `limit`, in the order of the specification. */
  find(value: unknown, limit: number, budget: Budget): unknown[];
}

/** Throws RuleSyntaxError with the place at fault. */
export function compileJsonPath(source: string): CompiledJsonPath {
  if (source.length > RULE_LIMITS.selectorChars) {
    throw new RuleSyntaxError(null, `The path has more than ${RULE_LIMITS.selectorChars} characters.`);
  }
  const query = parseQuery(source);
  return {
    source,
    find: (value, limit, budget) =>
      evaluateQuery(query, { root: value, current: value, budget }).slice(0, limit),
  };
}
