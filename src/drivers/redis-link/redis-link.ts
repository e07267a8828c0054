import { setTimeout as pause } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl, type RedisPlace, redisAddress } from '../../core/config/place-urls.ts';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { within } from '../../lib/waits.ts';
import { type HeartbeatTimes, keepHeartbeat } from './heartbeat.ts';
import { connectionOptions, keyPrefix } from './primary-connector.ts';
import { asQueueError } from './redis-error.ts';

export interface RedisLinkOptions {
  /** As `SCRAPIFIE_REDIS_URL` has it: one server, a cluster, or sentinels. */
  readonly url: string;
  /** What every key begins with. */
  readonly prefix: string;
  /** How long one operation may take before it counts as failed. */
  readonly timeoutMs?: number;
  /** Told once when Redis goes away and once when it is back. */
  readonly onChange?: ((isUp: boolean, why: string) => void) | undefined;
  /** How often each connection is sent a ping. */
  readonly pingEveryMs?: number | undefined;
}

/** The connections of one driver to Redis. Each is pinged, and replaced when it does not answer in time. */
export interface RedisLink {
  /** Host and port, for messages. */
  readonly address: string;
  /** What every key begins with: the prefix of the options, as this place needs it. */
  readonly prefix: string;
  /** Commands on it fail at once while Redis is away; nothing piles up behind it. */
  readonly client: Redis;
  /** Runs an operation on the client within the time limit; whatever goes wrong is a ScrapifieError. */
  run<T>(action: (client: Redis) => Promise<T>): Promise<T>;
  /**
   * A further connection, whose commands wait for Redis as long as it takes; closed with the link. `blockMs` is the
   * longest time for which its commands make Redis wait (as `BLPOP` does).
   */
  patient(blockMs?: number): Redis;
  /** Commands sent so far, over all connections. */
  operations(): number;
  /** Closes every connection, in bounded time. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 3_000;
/** A connection that was cut is mostly back within this time: worth waiting for rather than failing. */
const BLIP_MS = 500;
const CUT_MS = 20;
const CLOSE_MS = 1_000;
/** An idle connection of which the other end is gone is noticed by the system this long after its last byte. */
const KEEP_ALIVE_AFTER_MS = 10_000;
const PING_EVERY_MS = 5_000;
/** BullMQ makes Redis wait on the connections that it duplicates, never longer than this. */
const BULLMQ_BLOCK_MS = 10_000;
const OLDEST = { major: 6, minor: 2 };

/** Connects, and refuses a Redis that is too old or would throw keys away. */
export async function openRedisLink(options: RedisLinkOptions): Promise<RedisLink> {
  const { url, timeoutMs = TIMEOUT_MS } = options;
  const address = redisAddress(url);
  const place = parseRedisUrl(url);
  const connection = connectionOptions(place, options.prefix, timeoutMs);
  const times = { everyMs: options.pingEveryMs ?? PING_EVERY_MS, limitMs: timeoutMs };
  const tally: Tally = { operations: 0, clients: new Set(), times };
  const client = new CountedRedis(tally, {
    ...connection,
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    keepAlive: KEEP_ALIVE_AFTER_MS,
    retryStrategy: nextTryInMs,
  });
  let lastError: unknown;
  listen(client, 'error', (error) => {
    lastError = error;
  });
  try {
    await within(2 * timeoutMs, client.connect());
    // A wrong number of a database is only reported, and the connection would go on with database 0.
    if (lastError !== undefined) throw lastError;
    assertUsable(await within(timeoutMs, client.info()), address, place.kind);
  } catch (error) {
    client.disconnect();
    throw asQueueError(lastError ?? error, address);
  }

  let isUp = true;
  let downAt = 0;
  listen(client, 'ready', () => {
    lastError = undefined;
    if (!isUp) options.onChange?.(true, `Redis at ${address} is back`);
    isUp = true;
  });
  listen(client, 'close', () => {
    if (!isUp || tally.isClosing === true) return;
    isUp = false;
    downAt = performance.now();
    options.onChange?.(false, asQueueError(lastError ?? 'the connection ended', address).message);
  });

  async function ready(): Promise<void> {
    if (client.status === 'ready') return;
    const leftMs = BLIP_MS - (performance.now() - downAt);
    if (leftMs <= 0 || tally.isClosing === true) throw new Error('there is no connection');
    const back = Promise.withResolvers<void>();
    client.once('ready', back.resolve);
    await within(leftMs, back.promise).finally(() => client.off('ready', back.resolve));
  }

  return {
    address,
    prefix: keyPrefix(place, options.prefix),
    client,
    async run(action) {
      try {
        await ready();
        return await within(timeoutMs, action(client)).catch(async (error: unknown) => {
          if (!isUnsent(error)) throw error;
          // Cut a moment ago, and the client had not noticed yet.
          await pause(CUT_MS);
          await ready();
          return within(timeoutMs, action(client));
        });
      } catch (error) {
        throw asQueueError(error, address);
      }
    },
    patient(blockMs = 0) {
      const patient = new CountedRedis(
        tally,
        {
          ...connection,
          maxRetriesPerRequest: null,
          connectTimeout: timeoutMs,
          keepAlive: KEEP_ALIVE_AFTER_MS,
          retryStrategy: nextTryInMs,
        },
        blockMs,
      );
      // The link itself tells of outages; without a listener the client would print them.
      patient.on('error', () => undefined);
      return patient;
    },
    operations: () => tally.operations,
    async close() {
      tally.isClosing = true;
      await Promise.all([...tally.clients].map(closeClient));
    },
  };
}

/** Closes a connection and those that were made from it. */
export async function closeClient(client: Redis): Promise<void> {
  if (client instanceof CountedRedis) await Promise.all([...client.copies].map(closeClient));
  if (client.status === 'end') return;
  const ended = new Promise<void>((resolve) => listenOnce(client, 'end', () => resolve()));
  client.disconnect();
  await within(CLOSE_MS, ended).catch(() => undefined);
}

function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.includes("isn't writeable");
}

function nextTryInMs(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt - 1, 5), 1_000);
}

interface Tally {
  operations: number;
  readonly clients: Set<Redis>;
  readonly times: HeartbeatTimes;
  isClosing?: boolean;
}

/** Counts what it sends and is pinged, and so are its duplicates. */
class CountedRedis extends Redis {
  readonly #tally: Tally;
  readonly copies = new Set<Redis>();

  constructor(tally: Tally, options: RedisOptions, blockMs = 0) {
    super({ ...options, replyMapping: 'legacy' });
    this.#tally = tally;
    tally.clients.add(this);
    listen(this, 'end', () => tally.clients.delete(this));
    // BullMQ ends its blocking connection at times and connects the same client again.
    listen(this, 'connect', () => tally.clients.add(this));
    const { everyMs, limitMs } = tally.times;
    keepHeartbeat(this, { everyMs, limitMs: limitMs + blockMs });
  }

  override sendCommand(...sent: Parameters<Redis['sendCommand']>): unknown {
    // The constructor of the client connects before the field is there; that handshake is not counted.
    if (#tally in this) this.#tally.operations += 1;
    return super.sendCommand(...sent);
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    const copy = new CountedRedis(this.#tally, { ...this.options, ...override }, BULLMQ_BLOCK_MS);
    copy.on('error', () => undefined);
    this.copies.add(copy);
    listen(copy, 'end', () => this.copies.delete(copy));
    listen(copy, 'connect', () => this.copies.add(copy));
    return copy;
  }

  override disconnect(reconnect = false): void {
    // Between two attempts there is no socket whose end would be noticed: an attempt cut short ends the client.
    if (!reconnect && this.status === 'reconnecting') {
      super.disconnect();
      this.connect().catch(() => undefined);
    }
    super.disconnect(reconnect);
  }
}

/** Reads what `INFO` says of the server. */
export function assertUsable(info: string, address: string, kind: RedisPlace['kind'] = 'server'): void {
  const field = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const [major = 0, minor = 0] = field('redis_version').split('.').map(Number);
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    throw new ScrapifieError(
      'QUEUE_REFUSED',
      `Redis at ${address} is version ${field('redis_version')}; at least ${OLDEST.major}.${OLDEST.minor} is needed.`,
    );
  }
  const mode = field('redis_mode');
  if (kind === 'server' && (mode === 'cluster' || mode === 'sentinel')) {
    const what = mode === 'cluster' ? 'a node of a cluster' : 'a sentinel';
    throw new ScrapifieError(
      'QUEUE_REFUSED',
      `Redis at ${address} is ${what}, and the URL names one server: begin it with redis+${mode}:// (rediss+${mode}:// for TLS).`,
    );
  }
  const policy = field('maxmemory_policy');
  if (Number(field('maxmemory')) > 0 && policy !== 'noeviction') {
    throw new ScrapifieError(
      'QUEUE_UNSAFE',
      `Redis at ${address} has maxmemory-policy ${policy} and would throw work away when its memory is full. Set maxmemory-policy to noeviction.`,
    );
  }
}
