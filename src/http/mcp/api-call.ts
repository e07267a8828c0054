/** A request to the API, made with the rights of the client that the MCP server serves. */
interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

/** How the MCP server reaches the API: within the process, or over HTTP. Resolves with the status and the parsed body. */
export type ApiCall = (request: ApiRequest) => Promise<{ readonly status: number; readonly body: unknown }>;

/** An answer of the API that is an error. */
export class ApiFailure extends Error {
  readonly code: string;
  readonly details: readonly unknown[];

  constructor(code: string, message: string, details: readonly unknown[]) {
    super(message);
    this.name = 'ApiFailure';
    this.code = code;
    this.details = details;
  }
}

/** `data` of the answer; throws ApiFailure when the API refuses. */
export async function dataOf<T>(call: ApiCall, request: ApiRequest): Promise<T> {
  const { status, body } = await call(request);
  const answer = body as { data?: T; error?: { code?: string; message?: string; details?: unknown } } | null;
  if (status < 400 && answer?.data !== undefined) return answer.data;
  const { code = `HTTP_${status}`, message = `The API answered ${status}.`, details } = answer?.error ?? {};
  throw new ApiFailure(code, message, Array.isArray(details) ? details : []);
}

export function pathWithQuery({ path, query }: Pick<ApiRequest, 'path' | 'query'>): string {
  const entries = Object.entries(query ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`;
}

/** What a model can do about an error, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  VALIDATION_FAILED: 'Correct the named fields and call the tool again.',
  INVALID_URL: 'Give an absolute URL that begins with http:// or https://.',
  UNAUTHENTICATED: 'The API key is missing or not valid any more: ask the user for a valid key.',
  FORBIDDEN: 'The API key lacks a scope: tell the user which tool was refused.',
  NOT_FOUND: 'Check the id: it must be one that an earlier call has returned.',
  CONFLICT: 'The job has ended, or is in a state that does not allow this: look at its status first.',
  QUERY_REFUSED: 'Correct the query as the message says.',
  QUERY_FAILED: 'Correct the query as the message says.',
  QUERY_TIMEOUT: 'Ask for less: a narrower condition, fewer groups.',
  QUERY_UNAVAILABLE: 'Use the tool query in place of SQL.',
  BROWSER_UNCONFINED: 'Browsers are not used on this machine: do without a screenshot or `waitForSelector`.',
  NO_BROWSER: 'No browser is installed: do without a screenshot or `waitForSelector`.',
  REQUEST_TIMEOUT: 'The page took too long: try once more, or another page.',
  CREDITS_EXHAUSTED: 'The account has no credits left: tell the user.',
  STORAGE_LIMIT: 'The account stores as much as it may: tell the user.',
  RATE_LIMITED: 'Wait a minute before the next call.',
  QUEUE_FULL: 'The server has too much to do: wait a minute and call again.',
  ROBOTS_DISALLOWED: 'The site forbids this page to robots: use another source.',
  BLOCKED: 'The site blocks automated visitors: try another page or source.',
  CAPTCHA: 'The page asks for a CAPTCHA: use another source.',
  LOGIN_REQUIRED: 'The page needs a log-in: ask the user, or use another source.',
  CONSENT_REQUIRED: 'The operator has not allowed this for the site: do without the option.',
  ADDRESS_REFUSED: 'The address is private: only public sites can be fetched.',
  DNS_FAILED: 'There is no such host: check the spelling of the URL.',
  CONNECT_FAILED: 'The host does not answer: check the URL, or try later.',
  TASK_TIMEOUT: 'The page took too long: try once more, or another page.',
};
const OTHERWISE = 'If it fails again, tell the user the code and the message.';

export function failureText(error: unknown): string {
  if (!(error instanceof ApiFailure)) return `INTERNAL: The call failed. ${OTHERWISE}`;
  const fields = error.details
    .map((each) => each as { field?: unknown; message?: unknown })
    .filter(({ field, message }) => typeof field === 'string' && typeof message === 'string')
    .map(({ field, message }) => `\n- ${String(field)}: ${String(message)}`);
  return `${error.code}: ${error.message}${fields.join('')}\nWhat to do: ${ADVICE[error.code] ?? OTHERWISE}`;
}
