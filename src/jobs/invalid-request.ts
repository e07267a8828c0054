import type { z } from 'zod';
import { ScrapifieError } from '../errors/scrapifie-error.ts';

/** One bad field. `field` is a path such as `options.formats.0`; empty when the whole value is meant. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

const join = (path: readonly PropertyKey[]) => path.map(String).join('.');

/** Every problem under its own field; an unknown key counts as a field of its own. */
export function problemsOf(error: z.core.$ZodError): FieldProblem[] {
  return error.issues.flatMap((issue) => problemsIn(issue, []));
}

function problemsIn(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): FieldProblem[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: join([...path, key]), message: `Unknown field "${key}".` }));
  }
  if (issue.code === 'invalid_union') {
    // The form that was meant is the one in which something stands wrong, rather than the value as a whole.
    const meant = issue.errors.find((form) =>
      form.every(({ code, path: at }) => at.length > 0 || code === 'unrecognized_keys'),
    );
    if (meant !== undefined && meant.length > 0) return meant.flatMap((each) => problemsIn(each, path));
  }
  return [{ field: join(path), message: issue.message }];
}

/** Problems that are listed; the rest is only counted, so that an answer does not outgrow its request. */
const MAX_LISTED_PROBLEMS = 100;
const MAX_FIELD_CHARS = 200;
const MAX_MESSAGE_CHARS = 500;

const cut = (text: string, max: number) => (text.length > max ? `${text.slice(0, max)}…` : text);

/** The problems as an answer lists them: the first ones, with fields and texts of a bounded length. */
export function listed<T extends FieldProblem>(problems: readonly T[]): T[] {
  return problems.slice(0, MAX_LISTED_PROBLEMS).map((problem) => ({
    ...problem,
    field: cut(problem.field, MAX_FIELD_CHARS),
    message: cut(problem.message, MAX_MESSAGE_CHARS),
  }));
}

export function invalidRequest(problems: readonly FieldProblem[]): ScrapifieError {
  const details = listed(problems);
  const shown = details
    .slice(0, 3)
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join(' ');
  const more = problems.length > 3 ? ` (and ${problems.length - 3} more)` : '';
  return new ScrapifieError('VALIDATION_FAILED', `${shown}${more}`, { details });
}

/** Parses at the edge; throws VALIDATION_FAILED with one entry per bad field. */
export function parseRequest<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw invalidRequest(problemsOf(parsed.error));
  return parsed.data;
}
