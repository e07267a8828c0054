import { invalidRequest } from '../../../capabilities/jobs/request/invalid-request.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { compileUrlPattern, costlyPart } from '../../../crawl/frontier/pattern.ts';

/** Fields of our requests for jobs, and the fields of a body that they are made of. */
const JOB_FIELDS: Readonly<Record<string, string>> = {
  include: 'includePaths',
  exclude: 'excludePaths',
  maxPages: 'limit',
  concurrency: 'maxConcurrency',
};
/** Fields of our options of a page, likewise. What stands below them is not in the body in the same form. */
const PAGE_FIELDS: Readonly<Record<string, string>> = {
  extract: 'formats',
  timeoutMs: 'timeout',
  wait: 'waitFor',
};

/** What a client has sent, as far as the names of its fields depend on it. */
export interface SentRequest {
  /** The path of the URL, without the query. */
  readonly path: string;
  readonly body: unknown;
}

interface Problem {
  readonly field: string;
  readonly message: string;
}

/**
 * The error with the fields that the client has sent in place of those of the request that was made of them. Errors
 * without fields, and fields that are the client's already, stay as they are.
 */
export function withClientFields(error: ScrapifieError, sent: SentRequest): ScrapifieError {
  const { code, details } = error;
  if (!isProblems(details)) return error;
  const problems = details.map((problem) => clientProblem(problem, sent));
  if (problems.every(({ field }, at) => field === details[at]?.field)) return error;
  const told = invalidRequest(problems);
  return new ScrapifieError(code, told.message, { details: told.details, cause: error });
}

const isProblems = (details: unknown): details is readonly Problem[] =>
  Array.isArray(details) &&
  details.length > 0 &&
  details.every((each) => typeof each?.field === 'string' && typeof each?.message === 'string');

function clientProblem(problem: Problem, { path, body }: SentRequest): Problem {
  const { message } = problem;
  const [field, rest] = clientField(problem.field, path, body);
  if (field === problem.field) return problem;
  const source = rest === undefined ? undefined : valueAt(valueAt(body, field), rest);
  const name = rest === undefined ? field : `${field}.${rest}`;
  const own = typeof source === 'string' ? patternProblem(source) : null;
  return { field: name, message: own ?? message.replaceAll(`\`${problem.field}\``, `\`${name}\``) };
}

/** The client's field, and what stands below it where the client has that as well. */
function clientField(field: string, path: string, body: unknown): readonly [string, string?] {
  const inner = field.replace(/^options\./, '');
  const [first = '', ...below] = inner.split('.');
  const isSent = inner === field && below.length === 0 && valueAt(body, first) !== undefined;
  if (isSent) return [field];
  const jobField = JOB_FIELDS[first];
  if (jobField !== undefined) return below.length === 0 ? [jobField] : [jobField, below.join('.')];
  const pageField = PAGE_FIELDS[first] ?? (inner === field ? undefined : inner);
  if (pageField === undefined) return [field];
  if (path.endsWith('/extract')) return [pageField === 'formats' ? 'schema' : `scrapeOptions.${pageField}`];
  return [/\/(?:crawl|search)$/.test(path) ? `scrapeOptions.${pageField}` : pageField];
}

/** What is wrong with the expression as the client has written it; null when only what was made of it is. */
function patternProblem(source: string): string | null {
  const found = costlyPart(source) ?? compileUrlPattern(`re:${source}`);
  return 'message' in found ? found.message : null;
}

const valueAt = (holder: unknown, name: string): unknown =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
    ? (holder as Readonly<Record<string, unknown>>)[name]
    : undefined;
