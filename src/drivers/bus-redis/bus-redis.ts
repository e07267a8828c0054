import { randomUUID } from 'node:crypto';
import { listen } from '../../core/errors/guarded.ts';
import type { Bus, Messages, Topic } from '../../core/ports/bus.ts';
import { within } from '../../lib/waits.ts';
import { asQueueError } from '../redis-link/redis-error.ts';
import { openRedisLink } from '../redis-link/redis-link.ts';
import { createOutbox, readBatch } from './bus-message.ts';

export interface BusRedisOptions {
  /** Address of Redis, as `SCRAPIFIE_REDIS_URL` has it. */
  readonly url: string;
  /** Before the channel's name. Processes with the same one hear each other. */
  readonly prefix?: string;
  /** Told of every listener that threw or rejected. */
  readonly onListenerError: (error: unknown, topic: Topic) => void;
  /** Told once when Redis goes away and once when it is back. */
  readonly onChange?: (isUp: boolean, why: string) => void;
}

export interface BusRedis extends Bus {
  /** Commands sent to Redis so far. */
  operations(): number;
  /** Publications that other processes did not get, because Redis was away. */
  dropped(): number;
}

type Listener<T extends Topic> = (message: Messages[T]) => void;
type Listeners = { readonly [T in Topic]: Set<Listener<T>> };

const OPEN_MS = 5_000;
/** For a message of the check to come back. */
const ECHO_MS = 1_500;

/**
 * A bus between processes, on the publications of Redis. What a process publishes its own listeners hear at once
 * and from itself, so that they do not depend on Redis; the others hear one publication per turn of its loop.
 */
export async function createBusRedis(options: BusRedisOptions): Promise<BusRedis> {
  const origin = randomUUID();
  const { url, prefix = 'scrapifie', onChange } = options;
  const link = await openRedisLink({ url, prefix, onChange });
  const channel = `${link.prefix}:bus`;
  const listeners: Listeners = {
    'host.ready': new Set(),
    'job.changed': new Set(),
    'policy.changed': new Set(),
    'account.changed': new Set(),
    'export.created': new Set(),
    'proxy.figures': new Set(),
    'process.alive': new Set(),
  };
  const outbox = createOutbox();
  let isSendDue = false;
  let isClosed = false;
  let dropped = 0;
  /** Checks that wait for their own message to come back, by its text; each leaves after ECHO_MS. */
  const echoes = new Map<string, () => void>();

  function deliver<T extends Topic>(topic: T, listener: Listener<T>, message: Messages[T]): void {
    const onError = (error: unknown) => options.onListenerError(error, topic);
    try {
      // An async function passes for a listener too; its rejection must not end the process.
      const answer: unknown = listener(message);
      if (answer instanceof Promise) answer.catch(onError);
    } catch (error) {
      onError(error);
    }
  }

  function tell<T extends Topic>(topic: T, message: Messages[T] | undefined): void {
    if (message === undefined) return;
    const those = listeners[topic];
    for (const listener of [...those]) if (those.has(listener)) deliver(topic, listener, message);
  }

  function send(): void {
    isSendDue = false;
    const texts = outbox.take(origin);
    if (isClosed) return;
    for (const text of texts) {
      // Without a connection this fails at once; nothing waits for one.
      link.client.publish(channel, text).catch(() => {
        dropped += 1;
      });
    }
  }

  // This connection waits for Redis as long as it takes, and subscribes again by itself.
  const ear = link.patient();
  listen(ear, 'message', (_channel: string, text: string) => {
    echoes.get(text)?.();
    const batch = readBatch(text);
    // Redis returns the messages of this process too; their subscribers were called when they were published.
    if (batch === null || batch.from === origin || isClosed) return;
    tell('host.ready', batch['host.ready']);
    tell('job.changed', batch['job.changed']);
    if (batch['policy.changed'] !== undefined) tell('policy.changed', {});
    tell('account.changed', batch['account.changed']);
    tell('proxy.figures', batch['proxy.figures']);
    tell('process.alive', batch['process.alive']);
  });
  try {
    await within(OPEN_MS, ear.subscribe(channel));
  } catch (error) {
    await link.close();
    throw asQueueError(error, link.address);
  }

  return {
    publish(topic, message) {
      if (isClosed) return;
      // Later, so that no listener runs inside the publisher's own step.
      if (listeners[topic].size > 0) queueMicrotask(() => tell(topic, message));
      outbox.add(topic, message);
      if (isSendDue) return;
      isSendDue = true;
      setImmediate(send);
    },
    subscribe(topic, listener) {
      // Wrapped, so that the same function subscribed twice is two subscriptions.
      const own: typeof listener = (message) => listener(message);
      listeners[topic].add(own);
      return () => {
        listeners[topic].delete(own);
      };
    },
    async check() {
      // From ourselves and on no topic, so every process passes over it.
      const text = JSON.stringify({ from: origin, check: randomUUID() });
      const { promise: echo, resolve } = Promise.withResolvers<void>();
      echoes.set(text, resolve);
      try {
        await link.run(async (client) => {
          await client.publish(channel, text);
          await within(ECHO_MS, echo);
        });
      } finally {
        echoes.delete(text);
      }
    },
    async close() {
      isClosed = true;
      for (const those of Object.values(listeners)) those.clear();
      await link.close();
    },
    operations: () => link.operations(),
    dropped: () => dropped,
  };
}
