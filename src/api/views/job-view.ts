import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../errors/registry.ts';
import type { Waiting } from '../../jobs/waiting.ts';
import { JOB_STATUSES, type Job } from '../../model/job.ts';
import { hideSecrets } from '../../sessions/job-secrets.ts';

const time = z.iso.datetime();

const counter = z.number().int().min(0);

const waitingSchema = z.object({
  host: z.string(),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  until: time.describe('When these URLs may go on, by what is known now.'),
  tasks: counter.describe('How many URLs wait for it; of a large job, among its first and last thousand.'),
});

export const jobSchema = z
  .object({
    id: z.string().describe('UUID; later jobs have greater ids.'),
    kind: z.enum(['scrape', 'batch', 'crawl', 'map']),
    status: z.enum(JOB_STATUSES),
    stopReason: z
      .string()
      .nullable()
      .describe('Why it ended early, e.g. `budget.pages`, `wait:CIRCUIT_OPEN`.'),
    createdAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    progress: z.object({
      known: counter.describe('Every URL seen so far.'),
      open: counter.describe('URLs still to be done; the job is finished at zero.'),
      pages: counter.describe('Pages fetched.'),
      done: counter,
      failed: counter,
      skipped: counter.describe('Left out by a rule of the job.'),
      denied: counter.describe('Left out by robots.txt, policy or opt-out.'),
      cancelled: counter,
      bytes: counter,
      browserMs: counter.describe('Time that browsers worked on its pages.'),
      proxyBytes: counter.describe('Bytes that came through proxies.'),
    }),
    waitingFor: z
      .array(waitingSchema)
      .optional()
      .describe(
        'What open URLs wait for, at most 20 entries: a host that asked to wait, an open circuit breaker, allowed ' +
          'hours, a proxy, a retry. Empty while they are under way or due. Only where one job is asked for.',
      ),
    seeds: z.array(z.string()).describe('The first of the URLs it started from.'),
    options: z.unknown().describe('All options with their defaults; secrets are hidden.'),
    links: z.object({
      self: z.string(),
      results: z.string(),
      errors: z.string(),
      urls: z.string(),
    }),
  })
  .meta({ id: 'Job' });

const linksOf = (self: string) => ({
  self,
  results: `${self}/results`,
  errors: `${self}/errors`,
  urls: `${self}/urls`,
});

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());
const MAX_SHOWN_SEEDS = 100;

const waitingView = ({ host, code, message, until, tasks }: Waiting) => ({
  host,
  code,
  message,
  until: new Date(until).toISOString(),
  tasks,
});

export function jobView(job: Job, waiting?: readonly Waiting[]) {
  const { known, open, pages, done, failed, skipped, denied, cancelled, bytes, browserMs, proxyBytes } =
    job.counters;
  const self = `/v1/jobs/${job.id}`;
  const { sealed: _, ...options } = job.options;
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    stopReason: job.stopReason,
    createdAt: iso(job.createdAt),
    startedAt: iso(job.startedAt),
    finishedAt: iso(job.finishedAt),
    progress: { known, open, pages, done, failed, skipped, denied, cancelled, bytes, browserMs, proxyBytes },
    ...(waiting === undefined ? {} : { waitingFor: waiting.map(waitingView) }),
    seeds: job.seeds.slice(0, MAX_SHOWN_SEEDS),
    options: { ...options, page: hideSecrets(options.page) },
    links: linksOf(self),
  };
}

export const acceptedSchema = z
  .object({
    id: z.string(),
    kind: z.string(),
    status: z.string(),
    url: z.string().optional().describe('The page asked for, for a single scrape or a map.'),
    urls: counter.describe('URLs the job starts with, duplicates left out.'),
    invalidUrls: z
      .array(z.object({ index: counter, url: z.string(), message: z.string() }))
      .optional()
      .describe('With `ignoreInvalidUrls`: what is left out, at most the first 100.'),
    links: z.object({ self: z.string(), results: z.string(), errors: z.string(), urls: z.string() }),
    statusUrl: z.string(),
    resultsUrl: z.string(),
  })
  .meta({ id: 'AcceptedJob' });

/** The answer to a request that does not wait. */
export function acceptedView(job: Job) {
  const self = `/v1/jobs/${job.id}`;
  const isSingle = job.kind === 'scrape' || job.kind === 'map';
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    ...(isSingle ? { url: job.seeds[0] } : {}),
    urls: job.counters.known,
    links: linksOf(self),
    statusUrl: self,
    resultsUrl: job.kind === 'map' ? `${self}/urls` : `${self}/results`,
  };
}
