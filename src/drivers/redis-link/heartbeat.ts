import type { Redis } from 'ioredis';
import { listen } from '../../core/errors/guarded.ts';

export interface HeartbeatTimes {
  readonly everyMs: number;
  /** For the answer to a ping, and for Redis to greet a new connection. */
  readonly limitMs: number;
}

/**
 * Pings a connection for as long as its client lives, and destroys the socket when nothing comes back in time; the
 * client then connects anew. Without it a connection whose bytes get lost on the way (a fail-over behind one address,
 * a firewall that has forgotten the connection) would stay open and silent for good: the client's own time limits end
 * commands, never the connection.
 *
 * Any byte counts as an answer, because a server that is slow is still there. On a connection on which Redis is made
 * to wait the ping queues behind the wait: `limitMs` has to include it.
 */
export function keepHeartbeat(client: Redis, { everyMs, limitMs }: HeartbeatTimes): void {
  /** One check at a time is under way. */
  let limit: NodeJS.Timeout | undefined;
  let pings: NodeJS.Timeout | undefined;

  /** Destroys the present socket when `isDone` is still false after a time in which no byte arrived. */
  function check(what: string, isDone: () => boolean): void {
    const { stream } = client;
    const bytesBefore = stream.bytesRead;
    clearTimeout(limit);
    limit = setTimeout(() => {
      // One turn of the loop more: after a pause of this process the answer may lie there unread.
      setImmediate(() => {
        limit = undefined;
        if (isDone() || client.stream !== stream || stream.destroyed) return;
        if (stream.bytesRead === bytesBefore) {
          stream.destroy(new Error(`${what} was not answered within ${limitMs} ms`));
        } else check(what, isDone);
      });
    }, limitMs);
    limit.unref();
  }

  function ping(): void {
    if (limit !== undefined || client.status !== 'ready') return;
    let isAnswered = false;
    const onAnswer = (): void => {
      isAnswered = true;
    };
    check('a ping', () => isAnswered);
    client.ping().then(onAnswer, (error: Error) => {
      // A refusal is an answer too; the end of the client's patience is not.
      if (error.name === 'ReplyError') onAnswer();
    });
  }

  listen(client, 'connect', () => {
    pings ??= setInterval(ping, everyMs).unref();
    check('the greeting', () => client.status !== 'connect');
  });
  listen(client, 'end', () => {
    clearInterval(pings);
    clearTimeout(limit);
    pings = undefined;
    limit = undefined;
  });
}
