import { setTimeout as pause } from 'node:timers/promises';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { Agent, request } from 'undici';

const TRACES_PATH = '/v1/traces';

/** `/v1/traces` is where receivers take spans, unless the URL has a path of its own. */
export function receiverUrl(given: string): URL {
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = TRACES_PATH;
  return url;
}

/** The URL without user and password, and these as a header. */
export function withoutLogin(given: URL): { href: string; login: Record<string, string> } {
  const url = new URL(given);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (username === '' && password === '') return { href: url.href, login: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { href: url.href, login: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

export interface OtlpExporterOptions {
  /** Where spans are posted to; a login in it is sent as a header. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Writes spans in the binary encoding of OTLP. */
  readonly serialize: (spans: ReadableSpan[]) => Uint8Array | undefined;
  /** The receiver does not take spans any more; why. */
  readonly onRefused: (reason: string) => void;
  /** The receiver takes spans again, after as many were dropped. */
  readonly onTaken: (dropped: number) => void;
}

export interface OtlpExporter extends SpanExporter {
  /** From now on a batch is tried once: the process is about to end. */
  hurry(): void;
  /** Ends what is under way. */
  shutdown(): Promise<void>;
}

/** Time limit of a single try. */
const TRY_MS = 5_000;
/** The pause before the second and last try. */
const AGAIN_MS = 1_000;

/** Answers after which the same request may be taken later, by the specification of OTLP. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const SUCCESS = 0;
const FAILED = 1;

/**
 * Posts batches of spans to a receiver. A batch that it does not take is dropped after two tries: spans are worth less than
 * the memory and the time that a process would spend on keeping them.
 */
export function createOtlpExporter(options: OtlpExporterOptions): OtlpExporter {
  const { url, serialize, onRefused, onTaken } = options;
  const agent = new Agent({ connections: 2, headersTimeout: TRY_MS, bodyTimeout: TRY_MS });
  const hurried = new AbortController();
  const { href, login } = withoutLogin(url);
  const headers = { 'content-type': 'application/x-protobuf', ...login, ...options.headers };
  let dropped = 0;

  /** Null when the receiver has taken it; else why not, and whether it may be asked again. */
  async function send(body: Uint8Array): Promise<{ reason: string; isForNow: boolean } | null> {
    try {
      const signal = AbortSignal.timeout(TRY_MS);
      const answer = await request(href, { method: 'POST', headers, body, dispatcher: agent, signal });
      await answer.body.dump();
      const { statusCode } = answer;
      if (statusCode >= 200 && statusCode < 300) return null;
      return { reason: `It answers ${statusCode}.`, isForNow: LATER.has(statusCode) };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error), isForNow: true };
    }
  }

  async function sendTwice(spans: ReadableSpan[]): Promise<string | null> {
    const body = serialize(spans);
    if (body === undefined) return 'The spans cannot be written.';
    const first = await send(body);
    if (first === null || !first.isForNow || hurried.signal.aborted) return first?.reason ?? null;
    await pause(AGAIN_MS, undefined, { signal: hurried.signal }).catch(() => undefined);
    return (await send(body))?.reason ?? null;
  }

  async function deliver(spans: ReadableSpan[]): Promise<boolean> {
    const reason = await sendTwice(spans);
    if (reason !== null) {
      if (dropped === 0) onRefused(reason);
      dropped += spans.length;
    } else if (dropped > 0) {
      onTaken(dropped);
      dropped = 0;
    }
    return reason === null;
  }

  return {
    export(spans, onResult) {
      void deliver(spans).then((isTaken) => onResult({ code: isTaken ? SUCCESS : FAILED }));
    },
    hurry: () => hurried.abort(),
    shutdown: () => agent.destroy(),
  };
}
