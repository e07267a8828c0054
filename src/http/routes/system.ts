import { availableParallelism, freemem, hostname, loadavg, totalmem } from 'node:os';
import { z } from 'zod';
import {
  foreignCursor,
  listAnswer,
  listSchema,
  pagingFields,
  unwrapCursor,
} from '../../capabilities/views/list.ts';
import { listSettings } from '../../core/config/setting-list.ts';
import { ERRORS } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { LOG_LEVELS } from '../../core/observe/log-sink.ts';
import { defined } from '../../lib/defined.ts';
import { isoTime } from '../../lib/iso-time.ts';
import { type DoctorFinding, type FolderSize, folderSizes } from '../health/system-parts.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const time = z.iso.datetime();
const count = z.number().int().min(0);
const bytes = z.number().min(0);

const systemSchema = z
  .object({
    version: z.string(),
    node: z.string(),
    role: z.string(),
    host: z.string().describe('Name of this machine.'),
    pid: count,
    startedAt: time,
    uptimeMs: count,
    isShared: z.boolean().describe('Whether other processes use the same database.'),
    drivers: z.object({ store: z.string(), queue: z.string(), blobs: z.string() }),
    processes: z
      .array(
        z.object({
          process: z.string(),
          role: z.string(),
          version: z.string(),
          startedAt: time,
          heardAt: time,
        }),
      )
      .describe('This process first, then those that were heard of in the last 35 seconds.'),
    readiness: z.record(
      z.string(),
      z.object({
        status: z.enum(['ok', 'degraded', 'failing']),
        ms: z.number(),
        message: z.string().nullable(),
      }),
    ),
    queues: z.object({
      openUrls: count.describe('URLs of all jobs that are still to be done.'),
      waitingHosts: count.nullable().describe('Hosts with work that wait for a worker.'),
      activeHosts: count.nullable(),
      waiting: z
        .array(
          z.object({
            queue: z
              .enum(['http', 'browser', 'stealth'])
              .describe('http: hosts with URLs that are due. browser, stealth: renders.'),
            waiting: count,
            oldestMs: z.number().min(0).describe('How long the oldest of it has waited.'),
          }),
        )
        .describe('Work that waits for a worker, in the whole installation.'),
      activeSlices: count.describe('Hosts that this process works on.'),
      inFlightFetches: count.describe('Requests of this process that are under way.'),
      deliveries: z.object({ pending: count, oldestMs: z.number() }).describe('Webhooks to be sent.'),
    }),
    machine: z.object({
      processors: count,
      loadAverage: z.array(z.number()),
      totalMemory: bytes,
      freeMemory: bytes,
    }),
    memory: z.object({ rss: bytes, heapUsed: bytes, heapTotal: bytes, external: bytes }),
    storage: z.object({
      folder: z.string(),
      bytes,
      entries: z.array(z.object({ name: z.string(), bytes })).describe('The 20 largest of the data folder.'),
    }),
  })
  .meta({ id: 'System' });

const settingSchema = z
  .object({
    name: z.string(),
    variable: z.string(),
    value: z.unknown().describe('Secrets are hidden, and of URLs all but scheme and host. Null: not set.'),
    default: z.unknown(),
    source: z.enum(['default', 'command line', 'code', 'environment', '.env']),
    description: z.string(),
  })
  .meta({ id: 'Setting' });

const findingSchema = z
  .object({
    check: z.string(),
    state: z.enum(['ok', 'warn', 'fail']),
    found: z.string(),
    advice: z.string().nullable().describe('What to do about it.'),
  })
  .meta({ id: 'DoctorFinding' });

const logLineSchema = z
  .object({
    number: count.describe('Grows with each line of the process.'),
    at: z.string(),
    level: z.enum(LOG_LEVELS),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'LogLine' });

const MOST_ENTRIES = 20;
/** Sizes of folders are looked at again after this. */
const SIZES_MS = 60_000;
const LINE_NUMBER = /^[1-9]\d{0,14}$/;

/** The process and its installation, for the operator. */
export function addSystemRoutes(app: App, deps: RouteDeps): void {
  const { settings, store, version, readiness, now, system = {} } = deps;
  const startedAt = now();
  let sizes: { readonly at: number; readonly found: Promise<readonly FolderSize[]> } | null = null;

  function sizesNow(): Promise<readonly FolderSize[]> {
    if (sizes === null || now() - sizes.at > SIZES_MS)
      sizes = { at: now(), found: folderSizes(settings.dataDir) };
    return sizes.found;
  }

  app.route({
    method: 'GET',
    url: '/v1/system',
    config: { access: 'operator' },
    schema: {
      tags: ['operations'],
      summary: 'This process and its installation: processes, queues, readiness, memory, storage',
      querystring: z.strictObject({}),
      response: answers({ 200: systemSchema }),
    },
    async handler() {
      const [ready, openUrls, deliveries, depth, waiting, entries] = await Promise.all([
        readiness(),
        store.countOpenTasks(),
        store.deliveryBacklog(),
        system.queueDepth?.().catch(() => null) ?? null,
        system.waiting?.() ?? [],
        sizesNow(),
      ]);
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
      const own = { process: `${hostname()}:${process.pid}`, role: settings.role, version, startedAt };
      const processes = system.processes?.() ?? [{ ...own, heardAt: now() }];
      return success({
        version,
        node: process.version,
        role: settings.role,
        host: hostname(),
        pid: process.pid,
        startedAt: isoTime(startedAt),
        uptimeMs: Math.max(0, Math.round(now() - startedAt)),
        isShared: settings.databaseUrl !== undefined,
        drivers: {
          store: settings.databaseUrl === undefined ? 'SQLite' : 'PostgreSQL',
          queue: settings.redisUrl === undefined ? 'in the process' : 'Redis',
          blobs: settings.s3Url === undefined ? 'folder' : 'S3',
        },
        processes: processes.map((each) => ({
          ...each,
          startedAt: isoTime(each.startedAt),
          heardAt: isoTime(each.heardAt),
        })),
        readiness: Object.fromEntries(
          Object.entries(ready.parts).map(([name, { status, ms, message }]) => [
            name,
            { status, ms, message: message ?? null },
          ]),
        ),
        queues: {
          openUrls,
          waitingHosts: depth?.waiting ?? null,
          activeHosts: depth?.active ?? null,
          waiting: [...waiting],
          activeSlices: system.load?.().activeSlices ?? 0,
          inFlightFetches: system.load?.().inFlightFetches ?? 0,
          deliveries,
        },
        machine: {
          processors: availableParallelism(),
          loadAverage: loadavg(),
          totalMemory: totalmem(),
          freeMemory: freemem(),
        },
        memory: { rss, heapUsed, heapTotal, external },
        storage: {
          folder: settings.dataDir,
          bytes: entries.reduce((sum, each) => sum + each.bytes, 0),
          entries: entries.slice(0, MOST_ENTRIES),
        },
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/system/settings',
    config: { access: 'operator' },
    schema: {
      tags: ['operations'],
      summary: 'Every setting of this process with its value and where it was given',
      querystring: z.strictObject({}),
      response: answers({ 200: z.object({ items: z.array(settingSchema) }) }),
    },
    async handler() {
      return success({ items: listSettings(settings, system.sources ?? new Map()) });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/system/doctor',
    config: { access: 'operator' },
    schema: {
      tags: ['operations'],
      summary: 'Look for what will not work on this machine, as `scrapifie doctor` does',
      description:
        'Nothing is changed. What the server uses itself, such as the database, is tried by its readiness.',
      response: answers({ 200: z.object({ isHealthy: z.boolean(), items: z.array(findingSchema) }) }),
    },
    async handler(request) {
      const [{ parts }, found] = await Promise.all([readiness(), system.doctor?.() ?? []]);
      const ofParts = Object.entries(parts).map(([check, { status, message, code }]): DoctorFinding => {
        const state = status === 'ok' ? 'ok' : status === 'degraded' ? 'warn' : 'fail';
        const advice = code === undefined ? undefined : ERRORS[code].meaning;
        return { check, state, found: message ?? status, ...defined({ advice }) };
      });
      const items = [...ofParts, ...found].map((each) => ({ ...each, advice: each.advice ?? null }));
      const actor = apiKeyOf(request).id;
      await store.audit([{ at: now(), actor, action: 'system.doctor', target: hostname(), details: {} }]);
      return success({ isHealthy: items.every(({ state }) => state !== 'fail'), items });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/system/log',
    config: { access: 'operator' },
    schema: {
      tags: ['operations'],
      summary: 'The last log lines of this process, newest first',
      description:
        'At most 2,000 lines are kept, in memory, of this process only: in a fleet each API has its own. Secrets are hidden ' +
        'as in the log itself.',
      querystring: z.strictObject({
        level: z.enum(LOG_LEVELS).optional().describe('Lines of this level and above.'),
        text: z.string().min(1).max(200).optional().describe('In the line, whichever case its letters have.'),
        ...pagingFields,
      }),
      response: answers({ 200: listSchema(logLineSchema) }),
    },
    async handler(request) {
      if (system.log === undefined) {
        throw new ScrapifieError(
          'NOT_FOUND',
          'This process keeps no log lines; it writes them to standard error.',
        );
      }
      const { level, text, limit } = request.query;
      const cursor = unwrapCursor('log', request.query.cursor);
      if (cursor !== undefined && !LINE_NUMBER.test(cursor)) throw foreignCursor();
      const before = cursor === undefined ? undefined : Number(cursor);
      const found = system.log.lines({ level, text, before, limit: limit + 1 });
      const items = found.slice(0, limit);
      const nextCursor = found.length > limit ? String(items.at(-1)?.number) : null;
      return success(listAnswer('log', { items, nextCursor }, (line) => line));
    },
  });
}
