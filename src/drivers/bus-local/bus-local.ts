import type { Bus, Messages, Topic } from '../../core/ports/bus.ts';

export interface BusLocalOptions {
  /** Told of every listener that threw or rejected. */
  readonly onListenerError: (error: unknown, topic: Topic) => void;
}

type Listener<T extends Topic> = (message: Messages[T]) => void;
type Listeners = { readonly [T in Topic]: Set<Listener<T>> };

/** A bus within one process. After `close` it is silent. */
export function createBusLocal(options: BusLocalOptions): Bus {
  const listeners: Listeners = {
    'host.ready': new Set(),
    'job.changed': new Set(),
    'policy.changed': new Set(),
    'account.changed': new Set(),
    'export.created': new Set(),
    'proxy.figures': new Set(),
    'process.alive': new Set(),
  };

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

  return {
    publish(topic, message) {
      const those = listeners[topic];
      if (those.size === 0) return;
      // Later, so that no listener runs inside the publisher's own step.
      queueMicrotask(() => {
        for (const listener of [...those]) if (those.has(listener)) deliver(topic, listener, message);
      });
    },
    subscribe(topic, listener) {
      // Wrapped, so that the same function subscribed twice is two subscriptions.
      const own: typeof listener = (message) => listener(message);
      listeners[topic].add(own);
      return () => {
        listeners[topic].delete(own);
      };
    },
    check: async () => {},
    async close() {
      for (const those of Object.values(listeners)) those.clear();
    },
  };
}
