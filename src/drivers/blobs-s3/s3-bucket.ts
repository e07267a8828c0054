import { setTimeout as pause } from 'node:timers/promises';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { S3Place } from '../../core/config/place-urls.ts';
import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import {
  credentialsError,
  isWorthAnotherTry,
  refusalError,
  refusalOf,
  type S3Refusal,
  unreachableError,
} from './s3-error.ts';
import { addPayloadDigests, createS3Transport, LEAST_BYTES_PER_MS } from './s3-transport.ts';

export interface S3BucketOptions {
  readonly place: S3Place;
  readonly maxConnections: number;
  /** For one try; larger payloads get a second more per megabyte. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** How a request is made. */
export interface S3Terms {
  /** Bytes of the payload. */
  readonly bytes?: number;
  /** Refusals that are an answer and not an error, by status. */
  readonly expects?: readonly number[];
  /** One try, within this time: for a caller that wants to know whether the object store works now. */
  readonly onceWithinMs?: number;
}

/** A refusal that was expected. */
export interface Refused {
  readonly refusedWith: number;
}

/** Sends one command, with the options as they are given. Called again for each try. */
export type Send<Output> = (client: S3Client, options: SendOptions) => Promise<Output>;
/** Left out where the limit of the transport does: the SDK then reuses the middleware of the command. */
export type SendOptions = { readonly requestTimeout: number } | undefined;

/**
 * One bucket, by way of the AWS SDK. A failure that may pass by itself (no connection, no answer in time, 5xx, SlowDown)
 * is tried again after a jittered pause, a few times: our requests may all be repeated, because a key always holds the
 * same bytes. The SDK itself makes one attempt of each request, because it knows neither a full object store nor a limit
 * for all attempts together.
 */
export interface S3Bucket {
  readonly place: S3Place;
  readonly commands: Commands;
  /** Throws BLOBS_UNAVAILABLE, BLOBS_REFUSED or DISK_FULL. */
  ask<Output extends object>(send: Send<Output>, terms?: S3Terms): Promise<Output | Refused>;
  /** The server's clock when it gave this answer; null when it did not say. */
  answeredAt(output: object): number | null;
  close(): Promise<void>;
}

export type Commands = typeof import('@aws-sdk/client-s3');

const MOST_TRIES = 5;
/** No try begins later than this many time limits after the first: a server that hangs is given up after two. */
const LATEST_TRY = 1.5;
const BACKOFF_BASE_MS = 100;
const BACKOFF_CAP_MS = 2_000;
/** Signatures of a clock that differs more are refused; S3 allows 15 minutes. */
const SKEW_MS = 300_000;
const DEFAULT_REGION = 'us-east-1';
/** Steps of the SDK for a logger, for regions and for AWS's own statistics, which would take time in each request. */
const UNUSED_MIDDLEWARE = [
  'loggerMiddleware',
  'regionRedirectMiddleware',
  'addExpectContinueMiddleware',
  'getUserAgentMiddleware',
  'recursionDetectionMiddleware',
];

export const isRefused = (answer: object): answer is Refused => 'refusedWith' in answer;

/** Loads the SDK, which takes 30 MB in each thread: nothing else may import it, but for its types. */
export async function openS3Bucket(options: S3BucketOptions): Promise<S3Bucket> {
  const commands = await import('@aws-sdk/client-s3');
  const { place, timeoutMs, now, random } = options;
  const transport = createS3Transport(options);
  const open = (region: string | null) =>
    new commands.S3Client({
      ...configOf(place),
      ...(region === null ? {} : { region }),
      requestHandler: transport.handler,
    });
  const hasRegion = await open(place.region)
    .config.region()
    .then(
      () => true,
      () => false,
    );
  const client = open(hasRegion ? place.region : DEFAULT_REGION);
  for (const name of UNUSED_MIDDLEWARE) client.middlewareStack.remove(name);
  addPayloadDigests(client);
  const answerTimes = new WeakMap<object, number>();
  noteAnswerTimes(client, answerTimes);
  let isClosed = false;
  let hadCredentials = false;

  /** One attempt. Credentials are asked for first: a refusal by the service that gives them out is not one of S3. */
  async function attempt<Output extends object>(
    send: Send<Output>,
    limitMs: number,
    options: SendOptions,
  ): Promise<Output | { failure: ScrapifieError } | { refusal: S3Refusal; isClockSet: boolean }> {
    // Keys of the URL need no asking.
    if (place.keys === null) {
      try {
        await within(client.config.credentials(), limitMs);
        hadCredentials = true;
      } catch (error) {
        return { failure: credentialsError(error, place, hadCredentials) };
      }
    }
    const offsetMs = client.config.systemClockOffset;
    try {
      return await send(client, options);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) return { failure: unreachableError(error, place) };
      // The SDK has taken the server's time from the answer; answers to HEAD do not say that this was the reason.
      const isClockSet =
        refusal.status === 403 && Math.abs(client.config.systemClockOffset - offsetMs) > SKEW_MS;
      return { refusal, isClockSet };
    }
  }

  return {
    place,
    commands,
    async ask<Output extends object>(send: Send<Output>, terms: S3Terms = {}) {
      const { bytes = 0, expects = [], onceWithinMs } = terms;
      const limitMs = onceWithinMs ?? timeoutMs + bytes / LEAST_BYTES_PER_MS;
      const mostTries = onceWithinMs === undefined ? MOST_TRIES : 1;
      const sendOptions = onceWithinMs === undefined ? undefined : { requestTimeout: onceWithinMs };
      const startedAt = performance.now();
      for (let tries = 1; ; tries += 1) {
        let result = await attempt(send, limitMs, sendOptions);
        if ('refusal' in result && result.isClockSet) result = await attempt(send, limitMs, sendOptions);
        if (!('failure' in result) && !('refusal' in result)) return result;
        // A bucket that is not there is no answer about a key in it.
        if (
          'refusal' in result &&
          expects.includes(result.refusal.status) &&
          result.refusal.code !== 'NoSuchBucket'
        )
          return { refusedWith: result.refusal.status };
        const isHopeless =
          'refusal' in result
            ? !isWorthAnotherTry(result.refusal)
            : result.failure.code !== 'BLOBS_UNAVAILABLE';
        const isLate = performance.now() - startedAt > LATEST_TRY * limitMs;
        if (isHopeless || isLate || tries >= mostTries || isClosed) {
          throw 'refusal' in result ? refusalError(result.refusal, place, now()) : result.failure;
        }
        // Full jitter, so that what failed together does not come back together.
        await pause(Math.floor(random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (tries - 1))));
      }
    },
    answeredAt: (output) => answerTimes.get(output) ?? null,
    async close() {
      isClosed = true;
      client.destroy();
      await transport.close();
    },
  };
}

function configOf({ endpoint, keys, isVirtualHost }: S3Place): S3ClientConfig {
  return {
    endpoint,
    forcePathStyle: !isVirtualHost,
    // Left out: the environment, shared files, web identity, container and instance roles, in the order of the SDK.
    ...(keys === null ? {} : { credentials: keys }),
    maxAttempts: 1,
    // Halves the time that the SDK takes for a request.
    cacheMiddleware: true,
    // Checksums in trailers are newer than many object stores; `addPayloadDigests` adds one that all of them know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    followRegionRedirects: false,
    // The URL names the host: variables for AWS's own hosts do not apply to it.
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
  };
}

/** Ages of objects are counted by the clock of the server, which the output of the SDK leaves out. */
function noteAnswerTimes(client: S3Client, times: WeakMap<object, number>): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { readonly headers?: Readonly<Record<string, string>> };
      const at = Date.parse(headers?.date ?? '');
      if (!Number.isNaN(at) && result.output !== undefined) times.set(result.output, at);
      return result;
    },
    { step: 'deserialize', name: 'answerTime', priority: 'high' },
  );
}

function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${Math.round(limitMs)} ms`));
    const timer = setTimeout(late, limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
