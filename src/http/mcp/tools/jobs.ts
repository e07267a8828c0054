import { z } from 'zod';
import { EXPORT_FORMATS, JOB_EXPORT_TYPES } from '../../../core/model/export-registry.ts';
import { JOB_STATUSES } from '../../../core/model/job.ts';
import { urlPart } from '../../../lib/url-part.ts';
import { dataOf } from '../api-call.ts';
import {
  cursor,
  type ExportAnswer,
  id,
  jobId,
  json,
  maxTokens,
  type Part,
  text,
  tool,
  url,
} from '../tool.ts';
import { LISTED_AT_ONCE, type Listed, listParts, listPlaceOf, onlyFields } from '../tool-result.ts';
import { startedText } from './crawls.ts';

/** Tools that list, explain and change jobs. */

const JOB_FIELDS = ['id', 'kind', 'status', 'stopReason', 'createdAt', 'finishedAt', 'seeds', 'progress'];
const SHOWN_PROGRESS = ['pages', 'open', 'failed'];

interface JobItem {
  readonly seeds: readonly string[];
  readonly progress: object;
}

export const jobList = tool({
  name: 'job_list',
  title: 'List jobs',
  description: 'Lists crawls, batches and other jobs, newest first.',
  input: z.object({
    status: z.enum(JOB_STATUSES).optional(),
    domain: z.string().max(255).optional(),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ status, domain, maxTokens: most, cursor: from }, { api, signal }) {
    const place = listPlaceOf(from);
    const query = { status, domain, limit: LISTED_AT_ONCE, cursor: place.list };
    const listed = await dataOf<Listed<JobItem>>(api, { method: 'GET', path: '/v1/jobs', query, signal });
    return listParts(listed, place, {
      most,
      show(job) {
        const progress = JSON.parse(onlyFields(job.progress, SHOWN_PROGRESS)) as object;
        return onlyFields({ ...job, seeds: job.seeds.slice(0, 3), progress }, JOB_FIELDS);
      },
      empty: 'There are no such jobs. Start one with crawl.',
      isFromSites: false,
    });
  },
});

export const batch = tool({
  name: 'batch',
  title: 'Read many pages',
  description: 'Starts to read a list of pages and returns a job id at once. Follow it with crawl_status.',
  input: z.object({ urls: z.array(url).min(1).max(1_000) }),
  isReadOnly: false,
  async run({ urls }, { api, signal }) {
    const body = { urls, options: { formats: ['markdown'] }, search: true };
    const job = await dataOf<{ id: string; status: string }>(api, {
      method: 'POST',
      path: '/v1/batch',
      body,
      signal,
    });
    return [text(startedText(job))];
  },
});

const change = (name: string, title: string, description: string, what: 'cancel' | 'resume' | 'retry') =>
  tool({
    name,
    title,
    description,
    input: z.object({ id: jobId }),
    isReadOnly: false,
    async run({ id }, { api, signal }) {
      const path = `/v1/jobs/${urlPart(id)}/${what}`;
      const job = await dataOf<{ id: string; status: string }>(api, { method: 'POST', path, signal });
      return [text(`Job ${job.id} is ${job.status}.`)];
    },
  });

export const jobCancel = change('job_cancel', 'Cancel a job', 'Ends a job; its pages stay stored.', 'cancel');
export const jobResume = change(
  'job_resume',
  'Resume a job',
  'Goes on with a job that was cancelled or has spent a limit.',
  'resume',
);
export const jobRetry = change('job_retry', 'Retry a job', 'Tries the failed URLs of a job again.', 'retry');

export const jobErrors = tool({
  name: 'job_errors',
  title: 'List errors of a job',
  description: 'URLs of a job that failed or were not allowed, with the reason.',
  input: z.object({ id: jobId, maxTokens, cursor }),
  isReadOnly: true,
  async run({ id, maxTokens: most, cursor: from }, { api, signal }) {
    const place = listPlaceOf(from);
    const path = `/v1/jobs/${urlPart(id)}/errors`;
    const query = { limit: LISTED_AT_ONCE, cursor: place.list };
    const listed = await dataOf<Listed<object>>(api, { method: 'GET', path, query, signal });
    return listParts(listed, place, {
      most,
      show: (error) => onlyFields(error, ['url', 'state', 'code', 'message', 'rule', 'retryable']),
      empty: 'No URL of the job has failed.',
      isFromSites: true,
    });
  },
});

export const why = tool({
  name: 'why',
  title: 'Explain a URL',
  description: 'Says what became of a URL in a job, and why.',
  input: z.object({ id: jobId, url }),
  isReadOnly: true,
  async run({ id, url: address }, { api, signal }) {
    const path = `/v1/jobs/${urlPart(id)}/why`;
    const found = await dataOf<{ state: string; sentences: readonly string[] }>(api, {
      method: 'GET',
      path,
      query: { url: address },
      signal,
    });
    return [text([found.state, ...found.sentences].join('\n'))];
  },
});

export const usage = tool({
  name: 'usage',
  title: 'Show usage',
  description: 'Pages, bytes and credits that the account has used.',
  input: z.object({
    by: z.enum(['day', 'key', 'job', 'engine', 'host']).default('day'),
    from: z.iso.date().optional(),
    to: z.iso.date().optional(),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ by, from, to, maxTokens: most, cursor: after }, { api, signal }) {
    const place = listPlaceOf(after);
    const query = { by, from, to, limit: LISTED_AT_ONCE, cursor: place.list };
    const listed = await dataOf<Listed<object>>(api, { method: 'GET', path: '/v1/usage', query, signal });
    return listParts(listed, place, {
      most,
      show: json,
      empty: 'Nothing was used in this time.',
      isFromSites: false,
    });
  },
});

/** Tools that make files of jobs. */

export const exportJob = tool({
  name: 'export',
  title: 'Export a job',
  description:
    'Starts to write the pages of a job to a file and returns an export id. Follow it with export_status.',
  input: z.object({
    id: jobId,
    type: z
      .enum(JOB_EXPORT_TYPES)
      .default('full')
      .describe('full, seo, links, records: tables; raw: archives and Markdown'),
    format: z.enum(EXPORT_FORMATS).default('csv'),
  }),
  isReadOnly: false,
  async run({ id: job, type, format }, { api, signal }) {
    const path = `/v1/jobs/${urlPart(job)}/exports`;
    const made = await dataOf<ExportAnswer>(api, {
      method: 'POST',
      path,
      body: { type, format },
      signal,
    });
    return [text(`Export ${made.id} is ${made.status}. Call export_status with this id.`)];
  },
});

export const exportStatus = tool({
  name: 'export_status',
  title: 'Follow an export',
  description: 'How far an export is; once it is ready, a link to the file.',
  input: z.object({ id: id.describe('Export id') }),
  isReadOnly: true,
  async run({ id: named }, { api, signal, exportUri }): Promise<readonly Part[]> {
    const path = `/v1/exports/${urlPart(named)}`;
    const made = await dataOf<ExportAnswer>(api, { method: 'GET', path, signal });
    const told = text(
      onlyFields(made, ['id', 'jobId', 'type', 'format', 'status', 'rows', 'sizeBytes', 'error']),
    );
    if (made.status !== 'ready') return [told];
    const uri = await exportUri(made);
    const name = `${made.type} of ${made.jobId} (${made.format})`;
    return [told, { type: 'resource_link', uri, name, mimeType: 'application/octet-stream' }];
  },
});
