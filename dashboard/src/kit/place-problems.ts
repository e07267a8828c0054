import type { FieldProblem } from '../api/api-error.ts';

export interface PlacedProblems {
  /** Problems with the field of the form that shows them, by the path of its value. */
  readonly placed: readonly { readonly name: string; readonly message: string }[];
  /** Problems that no field of the form shows. */
  readonly rest: readonly FieldProblem[];
}

/**
 * Which field of a form shows which problem of the server's answer. The server names a value of the request, such as
 * `urls.3`; the form may have one text for all `urls`, so the nearest value above it is taken. `fieldOf` gives the field
 * where the form calls a value otherwise, by the path of the request or of a value above it.
 */
export function placeProblems(
  problems: readonly FieldProblem[],
  values: Readonly<Record<string, unknown>>,
  fieldOf: Readonly<Record<string, string>> = {},
): PlacedProblems {
  const placed = new Map<string, string>();
  const rest: FieldProblem[] = [];
  for (const problem of problems) {
    const name = nearestField(problem.field, values, fieldOf);
    if (name === null) rest.push(problem);
    else if (!placed.has(name)) placed.set(name, problem.message);
  }
  return { placed: [...placed].map(([name, message]) => ({ name, message })), rest };
}

function nearestField(
  field: string,
  values: Readonly<Record<string, unknown>>,
  fieldOf: Readonly<Record<string, string>>,
): string | null {
  const steps = field.split('.').filter((step) => step !== '');
  for (let length = steps.length; length > 0; length--) {
    const path = steps.slice(0, length);
    const named = fieldOf[path.join('.')];
    if (named !== undefined) return named;
    if (hasValue(values, path)) return path.join('.');
  }
  return null;
}

function hasValue(values: unknown, path: readonly string[]): boolean {
  let value = values;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return true;
}
