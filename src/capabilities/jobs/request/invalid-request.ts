import type { z } from 'zod';
import { type PlainProblem, parsePlainly, sentenceOf } from '../../../core/config/plain-problems.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';

/** One bad field. `field` is a path such as `options.formats.0`; empty when the whole value is meant. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** Problems of a request as answers list them: each under its own field, an unknown key too. */
export function fieldProblems(problems: readonly PlainProblem[]): FieldProblem[] {
  return problems.map(({ path, text }) => {
    const field = path.join('.');
    return { field, message: sentenceOf(text, field) };
  });
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

/** A sentence that begins with the name of its field needs no second one. */
const isNamed = (field: string, message: string) => field === '' || message.startsWith(`\`${field}\` `);

/** `unlisted` more problems than are given were found. */
export function invalidRequest(problems: readonly FieldProblem[], unlisted = 0): ScrapifieError {
  const details = listed(problems);
  const shown = details
    .slice(0, 3)
    .map(({ field, message }) => (isNamed(field, message) ? message : `${field}: ${message}`))
    .join(' ');
  const more = problems.length + unlisted - 3;
  return new ScrapifieError('VALIDATION_FAILED', `${shown}${more > 0 ? ` (and ${more} more)` : ''}`, {
    details,
  });
}

/** What a request says by its schema, or VALIDATION_FAILED as an error. */
export function parsedRequest<T extends z.ZodType>(
  schema: T,
  input: unknown,
):
  | { readonly data: z.output<T>; readonly refusal: null }
  | { readonly data: null; readonly refusal: ScrapifieError } {
  const parsed = parsePlainly(schema, input, MAX_LISTED_PROBLEMS);
  if (parsed.problems === null) return { data: parsed.data, refusal: null };
  return { data: null, refusal: invalidRequest(fieldProblems(parsed.problems), parsed.unlisted) };
}

/** Parses at the edge; throws VALIDATION_FAILED with one entry per bad field. */
export function parseRequest<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const { data, refusal } = parsedRequest(schema, input);
  if (refusal !== null) throw refusal;
  return data;
}
