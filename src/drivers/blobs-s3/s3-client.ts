import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { isWorthAnotherTry, readRefusal, refusalError, type S3Refusal } from './s3-error.ts';
import type { S3Place } from './s3-place.ts';
import { createSigner, queryOf, type Signable } from './sign.ts';

export interface S3ClientOptions {
  readonly place: S3Place;
  readonly maxConnections: number;
  /** For one try; larger payloads get a second more per megabyte. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Of the bucket itself when there is none. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Refusals that are an answer and not an error, by status. */
  readonly expects?: readonly number[];
  /** Once, and within this time: for whoever wants to know whether it works now. */
  readonly onceWithinMs?: number;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** S3's name for a refusal that was expected, else null. */
  readonly code: string | null;
}

const MOST_TRIES = 5;
/** No try begins later than this many time limits after the first: a server that hangs is given up after two. */
const LATEST_TRY = 1.5;
const IDLE_MS = 4_000;
const BACKOFF_BASE_MS = 100;
const BACKOFF_CAP_MS = 2_000;
/** Signatures of a clock that differs more are refused; S3 allows 15 minutes. */
const SKEW_MS = 300_000;
/** The slowest line that still counts as working. */
const LEAST_BYTES_PER_MS = 1_000;

/**
 * Signed requests to one bucket. Whatever may pass by itself (no connection, no answer in time, 5xx, SlowDown) is
 * tried again after a jittered pause, a few times: our requests may all be repeated, because a key always holds the
 * same bytes. A server that refuses a signature because this machine's clock differs from its own says its time, and
 * the clock is corrected by that. Throws BLOBS_UNAVAILABLE, BLOBS_REFUSED or DISK_FULL.
 */
export class S3Client {
  readonly place: S3Place;
  readonly #options: S3ClientOptions;
  readonly #pool: Pool;
  readonly #sign: (request: Signable, at: number) => Record<string, string>;
  #isClosed = false;
  /** What the server's clock is ahead of this machine's, once it has refused a signature for that. */
  #aheadMs = 0;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    this.place = options.place;
    this.#sign = createSigner(options.place);
    // Our own limit covers all of a try; undici's for headers would end a long upload while nothing comes back.
    this.#pool = new Pool(options.place.origin, {
      connections: options.maxConnections,
      headersTimeout: 0,
      // Between two pieces of an answer: a large body gets a long limit, and a dead connection is noticed before it.
      bodyTimeout: options.timeoutMs,
      keepAliveTimeout: IDLE_MS,
      // Whatever the server proposes: the longer a connection is idle the likelier the network has forgotten it.
      keepAliveMaxTimeout: IDLE_MS,
      connect: { timeout: options.timeoutMs },
    });
  }

  async request(request: S3Request): Promise<S3Answer> {
    const { now, random, timeoutMs } = this.#options;
    const bytes = request.body?.length ?? 0;
    const tryMs = request.onceWithinMs ?? timeoutMs + bytes / LEAST_BYTES_PER_MS;
    const mostTries = request.onceWithinMs === undefined ? MOST_TRIES : 1;
    const startedAt = performance.now();
    for (let tries = 1; ; tries += 1) {
      let result = await this.#try(request, tryMs);
      if ('refusal' in result && this.#hasLearnedTime(result.refusal))
        result = await this.#try(request, tryMs);
      if (!('failure' in result) && !('refusal' in result)) return result;
      const isHopeless = 'refusal' in result && !isWorthAnotherTry(result.refusal);
      const isLate = performance.now() - startedAt > LATEST_TRY * tryMs;
      if (isHopeless || isLate || tries >= mostTries || this.#isClosed) {
        throw 'refusal' in result ? refusalError(result.refusal, this.place, now()) : result.failure;
      }
      // Full jitter, so that what failed together does not come back together.
      await pause(Math.floor(random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (tries - 1))));
    }
  }

  /** Answers to HEAD have no body that would name the reason, so it is looked for in the times. */
  #hasLearnedTime({ status, serverAt }: S3Refusal): boolean {
    if (status !== 403 || serverAt === null) return false;
    const aheadMs = serverAt - this.#options.now();
    if (Math.abs(aheadMs - this.#aheadMs) < SKEW_MS) return false;
    this.#aheadMs = aheadMs;
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.destroy();
  }

  async #try(
    request: S3Request,
    limitMs: number,
  ): Promise<S3Answer | { failure: ScrapifieError } | { refusal: S3Refusal }> {
    const stop = new AbortController();
    let timer = setTimeout(() => stop.abort(), limitMs);
    try {
      const {
        statusCode: status,
        headers,
        body,
      } = await this.#pool.request({
        ...this.#signed(request),
        signal: stop.signal,
      });
      const length = Number(headers['content-length'] ?? 0);
      if (length > limitMs * LEAST_BYTES_PER_MS) {
        clearTimeout(timer);
        timer = setTimeout(() => stop.abort(), length / LEAST_BYTES_PER_MS);
      }
      const answer = { status, headers, body: Buffer.from(await body.arrayBuffer()), code: null };
      if (status < 300 && !isLateError(request, answer)) return answer;
      const date = headers.date;
      const refusal = readRefusal(
        status < 300 ? 500 : status,
        answer.body,
        typeof date === 'string' ? date : undefined,
      );
      // A bucket that is not there is no answer about a key in it.
      const isAnswer = request.expects?.includes(status) === true && refusal.code !== 'NoSuchBucket';
      return isAnswer ? { ...answer, code: refusal.code } : { refusal };
    } catch (error) {
      const why = stop.signal.aborted ? `no answer within ${Math.round(limitMs)} ms` : reasonOf(error);
      const message = `The object store at ${this.place.origin} cannot be reached: ${why}.`;
      return { failure: new ScrapifieError('BLOBS_UNAVAILABLE', message, { cause: error }) };
    } finally {
      clearTimeout(timer);
    }
  }

  #signed(request: S3Request) {
    const { method, body } = request;
    const path = this.place.pathOf(request.key);
    const query = queryOf(request.query ?? {});
    const headers: Record<string, string> = { ...request.headers, host: this.place.host };
    // Either lets the server notice what was damaged on the way; not every server looks at both.
    if (body !== undefined) headers['content-md5'] = hash('md5', body, 'base64');
    const payloadHash = hash('sha256', body ?? '', 'hex');
    return {
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: this.#sign({ method, path, query, headers, payloadHash }, this.#options.now() + this.#aheadMs),
      body: body ?? null,
    };
  }
}

/** S3 may begin to answer 200 before it is done, and then say in the body that it failed. */
function isLateError({ method }: S3Request, { body }: S3Answer): boolean {
  return method === 'POST' && /^(?:<\?[^>]*>)?\s*<Error[\s>]/.test(body.toString('latin1', 0, 200));
}

/** The system's or undici's name for a failed connection; what has none is told by its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
