import { readFileSync } from 'node:fs';
import { createConnection, Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import type { RedisHost, RedisPlace } from '../../core/config/place-urls.ts';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** The server has ceased to be the one that has our keys, or was never it: another must be asked for. */
const ELSEWHERE = /\b(?:MOVED \d|READONLY You|UNBLOCKED )/;

/**
 * How the client connects to a place. With a cluster or sentinels, every connection begins by asking the servers of the URL
 * which server is the primary of our keys now, and a server that says it is not ends the connection. So commands,
 * scripts, blocking reads and subscriptions see one server, as without a cluster.
 */
export function connectionOptions(place: RedisPlace, prefix: string, timeoutMs: number): RedisOptions {
  const { hosts, username, password, database: db } = place;
  const tls = tlsOptions(place);
  const common: RedisOptions = { username, password, db, ...(tls === null ? {} : { tls }) };
  if (place.kind === 'server') return { ...common, ...hosts[0] };
  const findPrimary = createFinder(place, prefix, common, timeoutMs);

  class PrimaryConnector extends AbstractConnector {
    constructor(options: unknown) {
      super((options as { disconnectTimeout: number }).disconnectTimeout);
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      delete this.firstError;
      this.stream = await findPrimary().then(
        (host) => (tls === null ? createConnection(host) : connect({ ...host, ...tls })),
        (error: Error) => {
          this.firstError = error;
          // The client tries again after a socket that has closed, never after a connector that throws.
          return new Socket().destroy();
        },
      );
      if (!this.connecting) this.stream.destroy();
      listenOnce(this.stream, 'error', (error) => {
        this.firstError = error;
      });
      return this.stream;
    }

    /** A sentinel, or a node that was cut off, may not know yet that there is another primary. */
    override check(info: { role?: string } | undefined): boolean {
      return (info?.role ?? 'master') === 'master';
    }
  }
  return {
    ...common,
    Connector: PrimaryConnector,
    reconnectOnError: ({ message }) => (ELSEWHERE.test(message) ? 2 : false),
  };
}

/**
 * What every key begins with. The keys of an installation share one slot of a cluster, by the braces: scripts and BullMQ
 * change several keys at once, which a cluster allows within a slot only.
 */
export const keyPrefix = ({ kind }: RedisPlace, prefix: string): string =>
  kind === 'cluster' ? `{${prefix}}` : prefix;

/** Asks the servers of the URL in turn, beginning with the next one each time. */
function createFinder(place: RedisPlace, prefix: string, options: RedisOptions, timeoutMs: number) {
  const { hosts, kind, password } = place;
  let turn = -1;

  async function ask(at: RedisHost, more: RedisOptions): Promise<RedisHost> {
    const own: RedisOptions = {
      ...{ ...at, db: 0, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 },
      ...{ connectTimeout: timeoutMs, commandTimeout: timeoutMs },
      // A sentinel has no such state, and a node is asked for its view even while it loads its data.
      enableReadyCheck: false,
    };
    const client = new Redis({ ...Object.assign({}, options, own, more), replyMapping: 'legacy' });
    let first: Error | undefined;
    listen(client, 'error', (error) => {
      first ??= error;
    });
    try {
      await client.connect();
      return kind === 'cluster'
        ? await ownerOfSlot(client, keyPrefix(place, prefix), at)
        : await primaryOf(client, place.primaryName);
    } catch (error) {
      throw first ?? error;
    } finally {
      client.disconnect();
    }
  }

  /** Sentinels have the password of Redis, or none. */
  async function askSentinel(at: RedisHost): Promise<RedisHost> {
    try {
      return await ask(at, { username: '', password: '' });
    } catch (error) {
      if (password === '' || !/NOAUTH|NOPERM/.test(String(error))) throw error;
      return ask(at, {});
    }
  }

  return async (): Promise<RedisHost> => {
    let last: unknown;
    for (let asked = 0; asked < hosts.length; asked += 1) {
      turn = (turn + 1) % hosts.length;
      const at = hosts[turn];
      if (at === undefined) continue;
      try {
        return await (kind === 'cluster' ? ask(at, {}) : askSentinel(at));
      } catch (error) {
        last = error;
      }
    }
    throw last;
  };
}

async function primaryOf(sentinel: Redis, name: string): Promise<RedisHost> {
  const answer = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as string[] | null;
  const [host, port] = answer ?? [];
  if (host === undefined)
    throw new ScrapifieError('QUEUE_REFUSED', 'The sentinels know no primary of the name in the URL.');
  return { host, port: Number(port) };
}

async function ownerOfSlot(node: Redis, prefix: string, asked: RedisHost): Promise<RedisHost> {
  const slot = Number(await node.call('CLUSTER', 'KEYSLOT', prefix));
  const ranges = (await node.call('CLUSTER', 'SLOTS')) as [number, number, [string | null, number]][];
  const owner = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2];
  if (owner === undefined)
    throw new Error(`CLUSTERDOWN no node of the cluster has slot ${slot}, which holds our keys`);
  const [host, port] = owner;
  // A node that does not know its own name leaves it out.
  return { host: host === null || host === '' || host === '?' ? asked.host : host, port: Number(port) };
}

function tlsOptions({ tls }: RedisPlace): ConnectionOptions | null {
  if (tls === null) return null;
  const { sslrootcert, sslcert, sslkey } = tls;
  return {
    ...(sslrootcert === '' ? {} : { ca: readFileSync(sslrootcert) }),
    ...(sslcert === '' ? {} : { cert: readFileSync(sslcert) }),
    ...(sslkey === '' ? {} : { key: readFileSync(sslkey) }),
  };
}
