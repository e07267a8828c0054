import type { z } from 'zod';
import { nearestName } from '../../core/config/nearest-name.ts';
import { RULE_LIMITS } from './rule-limits.ts';
import type { RuleProblem } from './rule-problem.ts';
import { KNOWN_KEYS } from './rule-schema.ts';

type Issue = z.core.$ZodIssue;

/** Turns issues of the rule schema into problems with paths and suggestions. */
export function shapeProblems(issues: readonly Issue[], input: unknown, root: string): RuleProblem[] {
  return issues
    .flatMap((issue) => problemsOf(issue, input, []))
    .slice(0, RULE_LIMITS.problems)
    .map(({ path, message }) => ({ path: [root, ...path].join('.'), message }));
}

interface Found {
  readonly path: readonly string[];
  readonly message: string;
}

function problemsOf(issue: Issue, input: unknown, outer: readonly string[]): Found[] {
  const path = [...outer, ...issue.path.map(String)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, path) }));
  }
  if (issue.code === 'invalid_union') {
    const value = valueAt(input, path);
    const branch = closest(issue.errors, typeof value === 'object' && value !== null);
    if (branch !== undefined) return branch.flatMap((inner) => problemsOf(inner, input, path));
    return [{ path, message: expectation(path) }];
  }
  const text = issue.message.replace(/\.$/, '');
  return [{ path, message: `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.` }];
}

/** The issues of the union member that fits the value best: an object was not meant as a string. */
function closest(errors: readonly (readonly Issue[])[], isObject: boolean): readonly Issue[] | undefined {
  const fitting = errors.filter((branch) =>
    branch.every((issue) => issue.path.length > 0 || !isOtherForm(issue)),
  );
  return isObject || fitting.length > 0 ? fitting[0] : undefined;
}

function isOtherForm(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function placeOf(path: readonly string[]): keyof typeof KNOWN_KEYS {
  const list = path.at(-2);
  if (list === 'transforms') return 'transform';
  return list === 'fallbacks' ? 'alternative' : 'field';
}

function unknownKey(key: string, path: readonly string[]): string {
  const place = placeOf(path);
  const isInside = /^(?:replace|match|split)$/.test(path.at(-1) ?? '') && path.at(-3) === 'transforms';
  const known: readonly string[] = isInside
    ? ['pattern', 'flags', 'with', 'first', 'group']
    : KNOWN_KEYS[place];
  if (place === 'alternative' && KNOWN_KEYS.field.includes(key)) {
    return `\`${key}\` is said once, for the field, and not for a fallback.`;
  }
  const nearest = nearestName(key, known);
  return nearest === null
    ? `There is no \`${key}\` here; there is ${known.join(', ')}.`
    : `There is no \`${key}\`; did you mean \`${nearest}\`?`;
}

function expectation(path: readonly string[]): string {
  const place = placeOf(path);
  if (place === 'transform')
    return `Must be the name of a transform or an object with one of ${KNOWN_KEYS.transform.join(', ')}.`;
  return 'Must be a selector (a text) or an object.';
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const name of path) {
    value =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}
