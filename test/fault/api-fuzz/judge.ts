import { ERRORS, type ErrorSpec } from '../../../src/core/errors/registry.ts';
import type { Exchange } from './exchange.ts';
import type { FuzzRequest } from './requests.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** The server may close a connection whose request is larger than it takes before all of it was read. */
const SURELY_READ_BYTES = 500_000;

/** Statuses for requests that are no valid HTTP. */
const HTTP_STATUSES: readonly number[] = [408, 417, 431];

/** What is wrong with how a request ended; null when nothing is. */
export function problemOf(
  request: FuzzRequest,
  { end, bytes }: Exchange,
  secrets: readonly string[],
): string | null {
  if (end === 'hung') return 'it was neither answered nor closed';
  const leaked = secrets.find((secret) => bytes.includes(secret));
  if (leaked !== undefined) return 'a secret is in the answer';
  if (end === 'closed') {
    const mayBeClosed =
      !request.isWhole || request.title.startsWith('raw') || request.bytes.byteLength > SURELY_READ_BYTES;
    return mayBeClosed ? null : 'the connection was closed without an answer';
  }
  const answer = readAnswer(bytes);
  if (answer === null) return 'the answer is not HTTP';
  const { status, type, body } = answer;
  if (status === 500) return `status 500: ${body.toString('utf8').slice(0, 300)}`;
  if (request.isHead || status < 400) {
    if (request.isHead || !type.startsWith('application/json') || body.byteLength === 0) return null;
    return jsonOf(body) === undefined ? `status ${status} with broken JSON` : null;
  }
  const code = codeOf(body);
  if (code === null) return `status ${status} without the envelope: ${body.toString('utf8').slice(0, 300)}`;
  const spec = (ERRORS as Readonly<Record<string, ErrorSpec>>)[code];
  if (spec === undefined) return `the code ${code} is not in the registry`;
  return spec.httpStatus === status || (code === 'BAD_REQUEST' && HTTP_STATUSES.includes(status))
    ? null
    : `${code} came with status ${status} instead of ${spec.httpStatus}`;
}

/** The code of a well-formed failure; null for anything else. */
function codeOf(body: Buffer): string | null {
  const json = jsonOf(body) as { success?: unknown; error?: Record<string, unknown> } | null | undefined;
  const { code, message, retryable } = json?.error ?? {};
  const isFailure = json?.success === false && typeof message === 'string' && typeof retryable === 'boolean';
  return isFailure && typeof code === 'string' ? code : null;
}

export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The first final answer of a connection. Null when there is none. */
export function readAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, headEnd === -1 ? 0 : headEnd).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 0) return null;
  const rest = bytes.subarray(headEnd + 4);
  if (status < 200) return readAnswer(rest);
  const header = (name: string) => new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  const body = /chunked/i.test(header('transfer-encoding'))
    ? dechunked(rest)
    : rest.subarray(0, header('content-length') === '' ? undefined : Number(header('content-length')));
  return { status, type: header('content-type'), body };
}

function dechunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd === -1 ? at : lineEnd).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
