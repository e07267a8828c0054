import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { creditsOf } from '../../core/model/credits.ts';
import { JOB_STATUSES, type Job } from '../../core/model/job.ts';
import { JOB_KINDS, traitsOfKind } from '../../core/model/job-kinds.ts';
import { defined } from '../../lib/defined.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import type { EventLinks } from '../events/stream-frames.ts';
import { stopSentence } from '../jobs/results/outcome-words.ts';
import type { Waiting } from '../jobs/waits/waiting.ts';
import { hideSecrets } from '../sessions/secret-fields.ts';
import { wrapCursor } from './list.ts';

const time = z.iso.datetime();

const counter = z.number().int().min(0);

const waitingSchema = z.object({
  host: z.string(),
  code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  until: time.describe('When these URLs may go on, by what is known now.'),
  tasks: counter.describe('How many URLs wait for it; of a large job, among its first and last thousand.'),
});
export const jobLinksSchema = z
  .object({ self: z.string(), results: z.string(), errors: z.string(), urls: z.string() })
  .meta({ id: 'JobLinks' });

export const jobSchema = z
  .object({
    id: z.string().describe('UUID; later jobs have greater ids.'),
    kind: z.enum(JOB_KINDS),
    status: z.enum(JOB_STATUSES),
    stopReason: z
      .string()
      .nullable()
      .describe(
        'Why it ended early, e.g. `budget.pages`, `wait:CIRCUIT_OPEN`; `login-walls`: its pages ask to log in, and `errors` has them as `LOGIN_REQUIRED`.',
      ),
    stopMessage: z.string().nullable().describe('The same as a sentence.'),
    createdAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    keyId: z.string().nullable().describe('The API key that made it.'),
    credits: z.number().describe('What it has cost so far, sitemaps included; robots.txt files are free.'),
    progress: z.object({
      known: counter.describe(
        'Every URL seen so far, as `urls` lists them: `open`, `done`, `failed`, `skipped`, `denied` and `cancelled` together, ' +
          'and the robots.txt files and sitemaps that ended as skipped, which `skipped` does not count.',
      ),
      open: counter.describe('URLs still to be done; the job is finished at zero.'),
      pages: counter.describe('Pages fetched.'),
      done: counter,
      failed: counter,
      skipped: counter.describe(
        'Pages left out by a rule of the job; robots.txt files and sitemaps do not count.',
      ),
      denied: counter.describe('Left out by robots.txt, policy or opt-out.'),
      cancelled: counter,
      bytes: counter.describe('Bytes of bodies, sitemaps included; robots.txt files do not count.'),
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
    expired: z
      .array(z.enum(['bodies', 'artifacts', 'records', 'ledger']))
      .optional()
      .describe('Kinds of its data of which some, or all, was deleted because its time was over.'),
    seeds: z.array(z.string()).describe('The first of the URLs it started from.'),
    options: z.unknown().describe('All options with their defaults; secrets are hidden.'),
    scheduleId: z.string().optional().describe('The schedule that made it; missing when none did.'),
    links: jobLinksSchema,
  })
  .meta({ id: 'Job' });

const MAX_SHOWN_SEEDS = 100;

const waitingView = ({ host, code, message, until, tasks }: Waiting) => ({
  host,
  code,
  message,
  until: isoTime(until),
  tasks,
});

export function jobLinks(id: string) {
  const self = `/v1/jobs/${id}`;
  return { self, results: `${self}/results`, errors: `${self}/errors`, urls: `${self}/urls` };
}

export function jobView(job: Job, waiting?: readonly Waiting[]) {
  const { known, open, pages, done, failed, skipped, denied, cancelled, bytes, browserMs, proxyBytes } =
    job.counters;
  const { sealed: _sealed, hasSources: _hasSources, traceParent: _traceParent, ...options } = job.options;
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    stopReason: job.stopReason,
    stopMessage: stopSentence(job),
    createdAt: isoTimeOrNull(job.createdAt),
    startedAt: isoTimeOrNull(job.startedAt),
    finishedAt: isoTimeOrNull(job.finishedAt),
    keyId: job.keyId ?? null,
    credits: creditsOf(job.microcredits),
    progress: { known, open, pages, done, failed, skipped, denied, cancelled, bytes, browserMs, proxyBytes },
    ...(waiting === undefined ? {} : { waitingFor: waiting.map(waitingView) }),
    ...defined({ expired: job.expired }),
    seeds: job.seeds.slice(0, MAX_SHOWN_SEEDS),
    options: { ...options, page: hideSecrets(options.page) },
    ...defined({ scheduleId: job.scheduleId }),
    links: jobLinks(job.id),
  };
}

export type JobView = ReturnType<typeof jobView>;

export const acceptedSchema = z
  .object({
    id: z.string(),
    kind: z.string(),
    status: z.string(),
    url: z.string().optional().describe('The page asked for, for a single scrape or a map.'),
    urls: counter.describe('URLs the job starts with, duplicates left out.'),
    statusUrl: z.string(),
    resultsUrl: z.string(),
    links: jobLinksSchema,
  })
  .meta({ id: 'AcceptedJob' });

/** The answer to a batch. */
export const acceptedBatchSchema = z
  .object({
    ...acceptedSchema.shape,
    invalidUrls: z
      .array(z.object({ url: z.string(), message: z.string() }))
      .optional()
      .describe('With `ignoreInvalidUrls`: what was submitted and is no URL, each with the reason.'),
  })
  .meta({ id: 'AcceptedBatch' });

/** The answer to a request that does not wait. */
export function acceptedView(job: Job) {
  const self = `/v1/jobs/${job.id}`;
  const { hasOneUrl, isListOfUrls } = traitsOfKind(job.kind);
  return {
    id: job.id,
    kind: job.kind,
    status: job.status,
    ...(hasOneUrl ? { url: job.seeds[0] } : {}),
    urls: job.counters.known,
    statusUrl: self,
    resultsUrl: isListOfUrls ? `${self}/urls` : `${self}/results`,
    links: jobLinks(job.id),
  };
}

/** Where the API has what an event is about. */
export const EVENT_LINKS: EventLinks = {
  job: (jobId) => jobLinks(jobId).self,
  // The list of results after the page before it begins with the page itself.
  page: (jobId, seq) => `${jobLinks(jobId).results}?limit=1&cursor=${wrapCursor('results', String(seq - 1))}`,
};
