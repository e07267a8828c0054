/** A request to the API, made with the rights of the client that the MCP server serves. */
export interface ApiRequest {
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
