import { z } from 'zod';
import { defined } from '../../../lib/defined.ts';
import { urlPart } from '../../../lib/url-part.ts';
import { ApiFailure, dataOf } from '../api-call.ts';
import { cursor, id, maxTokens, text, tool, url } from '../tool.ts';
import { LISTED_AT_ONCE, type Listed, listParts, listPlaceOf, onlyFields } from '../tool-result.ts';

/** Tools for what runs again and again: monitors of pages, and schedules of jobs. */

const every = z.string().max(20).optional().describe('Such as 30m, 6h, 1d');
const cron = z.string().max(100).optional().describe('Cron line, in place of `every`');
const timeZone = z.string().max(64).optional().describe('IANA name');

/** A list of things with an id, newest first. */
const listTool = (name: string, title: string, path: string, fields: readonly string[], empty: string) =>
  tool({
    name,
    title,
    description: `${title}, newest first.`,
    input: z.object({ maxTokens, cursor }),
    isReadOnly: true,
    async run({ maxTokens: most, cursor: from }, { api, signal }) {
      const place = listPlaceOf(from);
      const query = { limit: LISTED_AT_ONCE, cursor: place.list };
      const listed = await dataOf<Listed<object>>(api, { method: 'GET', path, query, signal });
      return listParts(listed, place, {
        most,
        show: (each) => onlyFields(each, fields),
        empty,
        isFromSites: false,
      });
    },
  });

const deleteTool = (name: string, title: string, path: string, description: string) =>
  tool({
    name,
    title,
    description,
    input: z.object({ id }),
    isReadOnly: false,
    async run({ id: named }, { api, signal }) {
      await dataOf(api, { method: 'DELETE', path: `${path}/${urlPart(named)}`, signal });
      return [text(`${named} is deleted.`)];
    },
  });

export const monitorList = listTool(
  'monitor_list',
  'List monitors',
  '/v1/monitors',
  ['id', 'name', 'target', 'urls', 'status', 'checks', 'lastChangeAt', 'nextCheckAt'],
  'There are no monitors. Make one with monitor_create.',
);

export const monitorCreate = tool({
  name: 'monitor_create',
  title: 'Watch pages for changes',
  description: 'Checks pages or a whole site again and again; monitor_changes lists what changed.',
  input: z.object({
    name: z.string().min(1).max(200),
    urls: z.array(url).max(100).optional(),
    site: url.optional().describe('A whole site, in place of `urls`'),
    every,
    cron,
    timeZone,
    selectors: z.array(z.string().max(500)).max(20).optional().describe('CSS; compare only these parts'),
    maxPages: z.int().min(1).max(100_000).optional().describe('Of a site'),
  }),
  isReadOnly: false,
  async run({ every: interval, cron: line, timeZone: zone, selectors, ...wanted }, { api, signal }) {
    const body = {
      ...wanted,
      schedule: scheduleOf(interval, line, zone),
      ...(selectors === undefined ? {} : { watch: { selectors } }),
    };
    const made = await dataOf<{ id: string }>(api, { method: 'POST', path: '/v1/monitors', body, signal });
    return [text(`Monitor ${made.id} checks for the first time now. monitor_changes lists what changes.`)];
  },
});

export const monitorChanges = tool({
  name: 'monitor_changes',
  title: 'List changes of watched pages',
  description: 'What a monitor has seen change, newest first.',
  input: z.object({ id, since: z.iso.datetime().optional(), maxTokens, cursor }),
  isReadOnly: true,
  async run({ id: named, since, maxTokens: most, cursor: from }, { api, signal }) {
    const place = listPlaceOf(from);
    const path = `/v1/monitors/${urlPart(named)}/changes`;
    const query = { since, limit: LISTED_AT_ONCE, cursor: place.list };
    const listed = await dataOf<Listed<object>>(api, { method: 'GET', path, query, signal });
    return listParts(listed, place, {
      most,
      show: (each) => onlyFields(each, ['at', 'kind', 'url', 'fromUrl', 'title', 'text']),
      empty: 'Nothing has changed so far.',
      isFromSites: true,
    });
  },
});

export const monitorDelete = deleteTool(
  'monitor_delete',
  'Delete a monitor',
  '/v1/monitors',
  'Ends a monitor and deletes its changes.',
);

export const scheduleList = listTool(
  'schedule_list',
  'List schedules',
  '/v1/schedules',
  ['id', 'name', 'cron', 'everyMs', 'timeZone', 'status', 'nextRunAt'],
  'There are no schedules. Make one with schedule_create.',
);

export const scheduleCreate = tool({
  name: 'schedule_create',
  title: 'Schedule a crawl',
  description: 'Crawls a site again and again; its runs are jobs that job_list lists and diff compares.',
  input: z.object({
    name: z.string().min(1).max(200),
    url,
    maxPages: z.int().min(1).max(100_000).default(100),
    every,
    cron,
    timeZone,
  }),
  isReadOnly: false,
  async run({ name, url: address, maxPages, every: interval, cron: line, timeZone: zone }, { api, signal }) {
    const job = {
      kind: 'crawl',
      urls: [address],
      maxPages,
      options: { formats: ['markdown'] },
      search: true,
    };
    const body = { name, job, ...scheduleOf(interval, line, zone) };
    const made = await dataOf<{ id: string; nextRunAt: string | null }>(api, {
      method: 'POST',
      path: '/v1/schedules',
      body,
      signal,
    });
    return [text(`Schedule ${made.id} runs next at ${made.nextRunAt ?? 'no time: it is paused'}.`)];
  },
});

export const scheduleDelete = deleteTool(
  'schedule_delete',
  'Delete a schedule',
  '/v1/schedules',
  'Ends a schedule; the jobs of its runs stay.',
);

/** Throws VALIDATION_FAILED unless exactly one of the two times is given. */
function scheduleOf(
  interval: string | undefined,
  line: string | undefined,
  zone: string | undefined,
): object {
  if ((interval === undefined) === (line === undefined)) {
    throw new ApiFailure('VALIDATION_FAILED', 'Give either `every` or `cron`.', []);
  }
  return {
    ...(interval === undefined ? { cron: line } : { every: interval }),
    ...defined({ timeZone: zone }),
  };
}
