import { createHmac, hash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Jobs } from '../../capabilities/jobs/jobs.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import type { Vault } from '../../capabilities/sessions/vault.ts';
import { listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { ANSWERS_KEPT_MS } from '../../core/model/retention.ts';
import type {
  AnswerRef,
  AnswerRequest,
  AnswerState,
  AnswerStore,
  KeptAnswer,
} from '../../core/ports/answer-store.ts';
import type { KeyScope } from '../../core/ports/key-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { App } from './app.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route makes something: with an Idempotency-Key it does so once, and repeats get the same answer. */
    creates?: true;
  }
  interface FastifyRequest {
    /** The key of a request with an Idempotency-Key, to a route that creates; null for any other request. */
    held: HeldKey | null;
    /** The job that the request has created, or found under its key; for its line in the log. */
    jobId: JobId | null;
  }
}

/** What a request under an Idempotency-Key makes things from, so that a repeat after a crash makes the same. */
export interface HeldKey {
  /** For what is made; later ones are greater. */
  readonly id: string;
  /** For secrets of what is made. */
  readonly seed: Uint8Array;
  /** An earlier request with the key was not answered to its end, and may have made it already. */
  readonly isRepeated: boolean;
}

export interface KeptAnswersDeps {
  readonly store: AnswerStore;
  /** Seals answers, which may hold secrets; null: they are stored as they are. */
  readonly vault: Vault | null;
  readonly newId: () => string;
}

/** The process that answers renews it; after its death the next request with the key waits for this. */
const LEASE_MS = 20_000;
const RENEW_MS = 5_000;
/** How long a request waits for another with the same key; then 409, and when to come again. */
const MOST_WAIT_MS = 30_000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;
const RETRY_AFTER_MS = 5_000;
const SEED_BYTES = 32;
const MOST_BODY_BYTES = 536_870_912;
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Headers that belong to what was made; the others belong to the request and its connection. */
const KEPT_HEADERS = /^(?:content-type|location|etag|x-scrapifie-.+)$/;

/** The `Idempotency-Key` of a request, or null. Throws VALIDATION_FAILED for one that cannot be used. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw invalidRequest([
    { field: 'Idempotency-Key', message: 'Between 1 and 255 visible ASCII characters are expected.' },
  ]);
}

/**
 * Answers repeats of requests that create something, on all routes added afterwards that say `creates`. Only successes
 * are kept: a request that failed may be sent again with the same key. Without the header nothing of this costs anything.
 */
export function keepAnswers(app: App, { store, vault, newId }: KeptAnswersDeps): void {
  const underWay = new WeakMap<FastifyRequest, { readonly ref: AnswerRef; stop(): void }>();
  app.decorateRequest('held', null);

  async function begin(request: AnswerRequest, reply: FastifyReply): Promise<AnswerState> {
    const giveUpAt = performance.now() + MOST_WAIT_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const state = await store.beginAnswer(request);
      if (state.state !== 'busy' || reply.raw.destroyed || performance.now() > giveUpAt) return state;
      await delay(pauseMs);
    }
  }

  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.creates !== true || request.key === null) return;
    const key = idempotencyKeyOf(request);
    if (key === null) return;
    const { id: keyId, accountId, scopes } = request.key;
    // An answer may show what other keys of the account must not see. The header has no spaces, so the two stay apart.
    const ref: AnswerRef = { accountId, key: `${keyId} ${key}`, owner: randomUUID() };
    const asked: AnswerRequest = {
      ...ref,
      requestHash: requestHashOf(request, scopes),
      leaseMs: LEASE_MS,
      keptMs: ANSWERS_KEPT_MS,
      id: newId(),
      seed: sealed(randomBytes(SEED_BYTES), ref, 'seed'),
    };
    const state = await begin(asked, reply);
    if (state.state === 'mismatch') {
      throw new ScrapifieError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another request.');
    }
    if (state.state === 'busy') {
      throw new ScrapifieError('CONFLICT', 'Another request with this Idempotency-Key is still under way.', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    if (state.state === 'answered') return replay(state.answer, ref, reply);
    const { id, isRepeated } = state;
    request.held = { id, isRepeated, seed: opened(state.seed, ref, 'seed') };
    const renewal = setInterval(() => void store.beginAnswer(asked).catch(() => undefined), RENEW_MS).unref();
    const stop = () => clearInterval(renewal);
    listenOnce(reply.raw, 'close', stop);
    underWay.set(request, { ref, stop });
  });

  // The hook sees an answer before large answers become streams.
  app.addHook('onSend', async (request, reply, payload) => {
    const work = underWay.get(request);
    if (work === undefined) return payload;
    underWay.delete(request);
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    try {
      if (reply.statusCode >= 300 || !isText) await store.releaseAnswer(work.ref);
      else await store.keepAnswer(work.ref, answerOf(reply, payload, work.ref));
    } catch (error) {
      // What was made is there: a repeat finds it once the lease has run out.
      request.log.warn({ err: error }, 'the answer under an Idempotency-Key was not kept');
    } finally {
      work.stop();
    }
    return payload;
  });

  function answerOf(reply: FastifyReply, payload: string | Buffer, ref: AnswerRef): KeptAnswer {
    const headers = Object.entries(reply.getHeaders()).filter(([name]) => KEPT_HEADERS.test(name));
    return {
      statusCode: reply.statusCode,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
      body: sealed(zstdCompressSync(Buffer.from(payload)), ref, 'answer'),
    };
  }

  function replay({ statusCode, headers, body }: KeptAnswer, ref: AnswerRef, reply: FastifyReply) {
    const bytes = zstdDecompressSync(opened(body, ref, 'answer'), { maxOutputLength: MOST_BODY_BYTES });
    reply.code(statusCode).headers(headers).header('idempotency-replayed', 'true');
    return reply.send(bytes.toString('utf8'));
  }

  const placeOf = ({ accountId, key }: { accountId: AccountId; key: string }, what: 'seed' | 'answer') => ({
    kind: 'answer' as const,
    accountId,
    name: `${what} ${hash('sha256', key, 'hex')}`,
  });
  function sealed(plain: Uint8Array, ref: AnswerRef, what: 'seed' | 'answer'): Uint8Array {
    return vault === null ? plain : vault.seal(plain, placeOf(ref, what));
  }
  function opened(bytes: Uint8Array, ref: AnswerRef, what: 'seed' | 'answer'): Uint8Array {
    return vault === null ? bytes : vault.open(bytes, placeOf(ref, what));
  }
}

/**
 * The parsed body: its fields stand in the order of the schema, so that spacing and order make no difference. The scopes of
 * a key never change, but tokens of one subject may differ in theirs: an answer is only for one that allows the same.
 */
function requestHashOf(
  { method, routeOptions, params, body }: FastifyRequest,
  scopes: readonly KeyScope[],
): string {
  const parts = [method, routeOptions.url, JSON.stringify(params), JSON.stringify(body ?? null)];
  const what = [...parts, scopes.join(' ')];
  return hash('sha256', what.join('\n'), 'hex');
}

/** Makes what a request asks for once, also when the process died after it was made and before the answer was kept. */
export interface Idempotency {
  /** Creates a job, or returns the one that an earlier request with the same key has created. */
  once(request: FastifyRequest, create: (id: JobId) => Promise<Job>): Promise<Job>;
  /** The id for what a request makes. `isRepeated`: an earlier request with the same key may have made it already. */
  idOf(request: FastifyRequest): { readonly id: JobId; readonly isRepeated: boolean };
}

export function createIdempotency(store: Pick<Store, 'getJob'>, jobs: Pick<Jobs, 'newId'>): Idempotency {
  return {
    idOf: ({ held }) => ({
      id: (held?.id as JobId | undefined) ?? jobs.newId(),
      isRepeated: held?.isRepeated ?? false,
    }),
    async once(request, create) {
      const job = await createOnce(request.held, create);
      request.jobId = job.id;
      return job;
    },
  };

  async function createOnce(held: FastifyRequest['held'], create: (id: JobId) => Promise<Job>): Promise<Job> {
    if (held === null) return create(jobs.newId());
    const id = held.id as JobId;
    const earlier = held.isRepeated ? await store.getJob(id) : null;
    if (earlier !== null) return earlier;
    try {
      return await create(id);
    } catch (error) {
      // A request that was slow, and not dead, may have created it meanwhile.
      const made = held.isRepeated ? await store.getJob(id) : null;
      if (made === null) throw error;
      return made;
    }
  }
}

/** The id of what the request creates; the same for all requests with one Idempotency-Key. */
export const newIdFor = ({ held }: FastifyRequest): string => held?.id ?? randomUUID();

/** Chance for a secret of what the request creates, the same for all requests with one key; null: take any. */
export function secretBytesFor({ held }: FastifyRequest, what: string): Buffer | null {
  return held === null ? null : createHmac('sha256', held.seed).update(what).digest();
}
