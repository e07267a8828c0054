import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { guarded, listen } from '../../../core/errors/guarded.ts';
import type { Job } from '../../../core/model/job.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { FoundKey } from '../../../core/ports/key-store.ts';
import { ambiguityOf } from '../../server/ambiguous-request.ts';
import type { App } from '../../server/app.ts';
import { apiKeyOf } from '../../server/caller.ts';
import { type FirecrawlDeps, jobOf, statusParts } from './firecrawl-deps.ts';
import { documentsOf, type Position, progressOf, type StatusParts } from './view/job-status.ts';
import { openWebSocket, refuseUpgrade, type WatchSocket } from './websocket.ts';

/** `/v2/crawl/ID`, also below `/firecrawl`, and the same of batches. */
const WATCHED = /^(?:\/firecrawl)?\/v([12])\/(?:crawl|batch\/scrape)\/([^/?#]+)$/;

export const isWatchPath = (url: string): boolean => WATCHED.test(url.split('?', 1)[0] ?? '');

/** The bus may lose messages: a job is looked at again after this time at the latest. */
const LOOK_MS = 2_000;
/** A key that was revoked ends what it has opened. */
const UNAUTHORIZED = 3_000;
const NOT_FOUND = 1_008;
const INTERNAL = 1_011;
const DONE = 1_000;

/** What says of a handshake from where it comes. */
const PASSED_ON = [
  'host',
  'origin',
  'sec-fetch-site',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
] as const;

interface Admitted {
  readonly key: FoundKey;
  readonly job: Job;
  readonly parts: StatusParts;
}

/**
 * Crawls and batches over a WebSocket: what there is, then each document as it comes, then the end. The key of the client is
 * checked by a request within the process, so that scopes and limits are those of every other call.
 */
export function watchJobs(app: App, versions: Readonly<Record<1 | 2, FirecrawlDeps>>): void {
  const { bus } = versions[2];
  /** Clients that are being admitted, by tickets that only this process knows. */
  const waiting = new Set<string>();
  const admitted = new Map<string, Admitted>();

  for (const version of [1, 2] as const) {
    const deps = versions[version];
    app.route({
      method: 'GET',
      url: `/firecrawl/watch/v${version}/:id`,
      config: { access: 'jobs:read', isStream: true },
      schema: { hide: true },
      async handler(request, reply) {
        const ticket = String(request.headers['x-watch-ticket'] ?? '');
        const job = await jobOf(request, deps, ['crawl', 'batch']);
        if (waiting.has(ticket)) {
          admitted.set(ticket, { key: apiKeyOf(request), job, parts: statusParts(request, deps) });
        }
        return reply.code(200).send({ success: true });
      },
    });
  }

  async function admit(request: IncomingMessage, version: string, id: string, secret: string | null) {
    const ticket = randomUUID();
    waiting.add(ticket);
    try {
      const answer = await app.inject({
        method: 'GET',
        // As the client has written it: the route decodes it, and refuses what cannot be decoded.
        url: `/firecrawl/watch/v${version}/${id}`,
        remoteAddress: request.socket.remoteAddress ?? '127.0.0.1',
        headers: {
          ...Object.fromEntries(
            PASSED_ON.flatMap((name) => {
              const value = request.headers[name];
              return value === undefined ? [] : [[name, value]];
            }),
          ),
          'x-watch-ticket': ticket,
          ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
        },
      });
      const isCrossSite = answer.statusCode === 403 && answer.json().error?.code === 'CROSS_SITE';
      return { status: answer.statusCode, isCrossSite, entry: admitted.get(ticket) ?? null };
    } finally {
      waiting.delete(ticket);
      admitted.delete(ticket);
    }
  }

  const open = new Set<WatchSocket>();
  app.addHook('preClose', async () => {
    for (const socket of open) socket.close(INTERNAL, { type: 'error', error: 'The server is stopping.' });
  });

  listen(app.server, 'upgrade', (request: IncomingMessage, socket: Duplex) => {
    listen(socket, 'error', () => socket.destroy());
    if (ambiguityOf(request) !== null) return refuseUpgrade(socket, '400 Bad Request');
    const [, version = '2', id = ''] = WATCHED.exec((request.url ?? '').split('?', 1)[0] ?? '') ?? [];
    if (id === '') return refuseUpgrade(socket, '404 Not Found');
    const deps = versions[version === '1' ? 1 : 2];
    watch(request, socket, version, id).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'a WebSocket could not be opened');
      socket.destroy();
    });
  });

  async function watch(request: IncomingMessage, socket: Duplex, version: string, id: string): Promise<void> {
    const { secret, protocol } = credentialsOf(request);
    const { status, isCrossSite, entry } = await admit(request, version, id, secret);
    // A browser tells its page nothing about a handshake that was refused; all other refusals are sent on the WebSocket.
    if (isCrossSite) return refuseUpgrade(socket, '403 Forbidden');
    const watched = openWebSocket(request, socket, protocol);
    if (watched === null) return;
    open.add(watched);
    watched.gone.addEventListener(
      'abort',
      guarded(() => open.delete(watched)),
    );
    if (status === 401) return watched.close(UNAUTHORIZED, { type: 'error', error: 'Unauthorized' });
    if (entry === null) {
      const error = status === 404 || status === 400 ? 'Job not found' : `Refused with status ${status}`;
      return watched.close(NOT_FOUND, { type: 'error', error });
    }
    const deps = versions[version === '1' ? 1 : 2];
    try {
      await follow(watched, entry, deps, bus);
    } catch (error) {
      deps.logger.warn({ err: error }, 'a watched job could not be read');
      watched.close(INTERNAL, { type: 'error', error: 'Unexpected error' });
    }
  }
}

/** The key comes as a protocol from browsers, which can send no header, and else as a header. */
function credentialsOf({ headers }: IncomingMessage): { secret: string | null; protocol: string | null } {
  const protocol = headers['sec-websocket-protocol']?.split(',', 1)[0]?.trim() || null;
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
  return { secret: bearer ?? protocol, protocol };
}

async function follow(socket: WatchSocket, entry: Admitted, deps: FirecrawlDeps, bus: Bus): Promise<void> {
  const { key, parts } = entry;
  let { job } = entry;
  const changes = changesOf(job.id, bus, socket.gone);
  try {
    let from: Position = { skip: 0 };
    let isFirst = true;
    while (!socket.gone.aborted) {
      const slice = await documentsOf(job, from, parts);
      const { status, ...progress } = progressOf(job);
      const isOver = job.finishedAt !== null && !slice.isMore;
      if (isFirst) {
        // A client that reads an end there closes the connection: it must have everything by then.
        const told = isOver || job.finishedAt === null ? status : 'scraping';
        await socket.send({ type: 'catchup', data: { ...progress, status: told, data: slice.documents } });
      } else for (const document of slice.documents) await socket.send({ type: 'document', data: document });
      isFirst = false;
      from = slice.next;
      if (isOver) return end(socket, job, parts.isV1);
      if (slice.isMore) continue;
      await changes.next();
      if (!(await deps.keys.isValid(key)))
        return socket.close(UNAUTHORIZED, { type: 'error', error: 'Unauthorized' });
      job = await deps.jobs.get(job.id, key.accountId);
    }
  } finally {
    changes.close();
  }
}

/** v1 reads the end from the reason, v2 from a message; a message of another end than `completed` names its status. */
function end(socket: WatchSocket, job: Job, isV1: boolean): void {
  const { success: _success, ...progress } = progressOf(job);
  const type = progress.status === 'completed' ? 'done' : 'catchup';
  if (!isV1) void socket.send({ type, data: { ...progress, data: [] } });
  socket.close(DONE, { type: 'done' });
}

/** Resolves when the job may have changed. */
function changesOf(id: string, bus: Bus, gone: AbortSignal) {
  let isDue = false;
  let wake: () => void = () => undefined;
  const changed = guarded(() => {
    isDue = true;
    wake();
  });
  const unsubscribe = bus.subscribe('job.changed', ({ jobs }) => {
    if ((jobs as readonly string[]).includes(id)) changed();
  });
  const timer = setInterval(changed, LOOK_MS).unref();
  gone.addEventListener('abort', changed);
  return {
    async next(): Promise<void> {
      if (!isDue) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isDue = false;
    },
    close() {
      unsubscribe();
      clearInterval(timer);
    },
  };
}
