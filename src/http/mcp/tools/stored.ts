import { z } from 'zod';
import { defined } from '../../../lib/defined.ts';
import { urlPart } from '../../../lib/url-part.ts';
import { dataOf } from '../api-call.ts';
import { cursor, id, json, maxTokens, type Part, text, tool, url } from '../tool.ts';
import {
  cursorOf,
  HEAD_TOKENS,
  LISTED_AT_ONCE,
  type Listed,
  listParts,
  listPlaceOf,
  onlyFields,
  portionOf,
  readCursor,
  siteText,
} from '../tool-result.ts';

/** Tools over what is stored: queries, and versions of pages. */

interface Rows extends Listed<object> {
  readonly isTruncated: boolean;
}

/** Rows that were cut because there are more than the limit. */
const truncated = ({ isTruncated }: Rows): readonly Part[] =>
  isTruncated ? [text('There are more rows than the limit: ask for fewer, or for groups.')] : [];

export const query = tool({
  name: 'query',
  title: 'Query stored pages',
  description:
    'Filters, groups and counts stored pages, links, records or snapshots. Errors name the fields that exist.',
  input: z.object({
    from: z.string().max(100).describe('pages, links, records or snapshots'),
    select: z
      .array(z.union([z.string().max(600), z.record(z.string(), z.unknown())]))
      .max(50)
      .optional()
      .describe('Fields, or {"fn":"sum","field":"bytes","as":"total"}'),
    where: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('{"field","op","value"} (eq, ne, gt, gte, lt, lte, in, contains …), {"and":[…]}, {"or":[…]}'),
    group: z.array(z.string().max(600)).max(10).optional(),
    order: z.array(z.string().max(600)).max(10).optional().describe('-bytes: largest first'),
    limit: z.int().min(1).max(1_000).default(100),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ maxTokens: most, cursor: from, ...asked }, { api, signal }) {
    const place = listPlaceOf(from);
    const body = { ...asked, ...defined({ cursor: place.list }) };
    const rows = await dataOf<Rows>(api, { method: 'POST', path: '/v1/query', body, signal });
    return [
      ...listParts(rows, place, { most, show: json, empty: 'No row.', isFromSites: true }),
      ...truncated(rows),
    ];
  },
});

export const sql = tool({
  name: 'sql',
  title: 'Query with SQL',
  description: 'SQL (DuckDB) over pages, links and records of jobs that were stored in the lake. Reads only.',
  input: z.object({
    sql: z.string().max(10_000),
    limit: z.int().min(1).max(1_000).default(100),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ sql: asked, limit, maxTokens: most, cursor: from }, { api, signal }) {
    const body = { sql: asked, limit };
    const rows = await dataOf<Rows>(api, { method: 'POST', path: '/v1/query', body, signal });
    return [
      ...listParts(rows, listPlaceOf(from), { most, show: json, empty: 'No row.', isFromSites: true }),
      ...truncated(rows),
    ];
  },
});

const VERSION_FIELDS = [
  'id',
  'title',
  'firstSeenAt',
  'lastSeenAt',
  'timesSeen',
  'price',
  'currency',
  'bytes',
];

export const pageHistory = tool({
  name: 'page_history',
  title: 'List versions of a page',
  description: 'Each distinct content that crawls with `snapshots` have seen at a URL, newest first.',
  input: z.object({ url, maxTokens, cursor }),
  isReadOnly: true,
  async run({ url: address, maxTokens: most, cursor: from }, { api, signal }) {
    const place = listPlaceOf(from);
    const asked = { url: address, limit: LISTED_AT_ONCE, cursor: place.list };
    const listed = await dataOf<Listed<object>>(api, {
      method: 'GET',
      path: '/v1/pages',
      query: asked,
      signal,
    });
    return listParts(listed, place, {
      most,
      show: (each) => onlyFields(each, VERSION_FIELDS),
      empty: 'No version is stored. Crawl the page with `snapshots`.',
      isFromSites: true,
    });
  },
});

/** A long text of a site in portions; the cursor says where the next one begins. */
function portionParts(content: string, from: string | undefined, most: number): readonly Part[] {
  const { start } = from === undefined ? { start: 0 } : readCursor(from);
  const begin = typeof start === 'number' && Number.isInteger(start) && start > 0 ? start : 0;
  const { text: portion, next } = portionOf(content, begin, most - HEAD_TOKENS);
  if (next === null) return [text(siteText(portion))];
  return [text(siteText(portion)), text(`More: call again with cursor ${cursorOf({ start: next })}`)];
}

export const pageVersion = tool({
  name: 'page_version',
  title: 'Read a version of a page',
  description: 'The content of one version, by its id from page_history.',
  input: z.object({ id, format: z.enum(['markdown', 'text']).default('markdown'), maxTokens, cursor }),
  isReadOnly: true,
  async run({ id: named, format, maxTokens: most, cursor: from }, { api, signal }) {
    const path = `/v1/snapshots/${urlPart(named)}`;
    const found = await dataOf<{ url: string; markdown?: string | null; text?: string | null }>(api, {
      method: 'GET',
      path,
      query: { formats: format },
      signal,
    });
    const head = text(`URL: ${found.url}`);
    return [head, ...portionParts(found[format] ?? '', from, most)];
  },
});

export const versionDiff = tool({
  name: 'version_diff',
  title: 'Compare two versions of a page',
  description: 'What differs between two versions, by their ids from page_history.',
  input: z.object({
    id: id.describe('The earlier version'),
    other: id.describe('The later version'),
    mode: z.enum(['text', 'word', 'line', 'html', 'fields']).default('line'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ id: earlier, other, mode, maxTokens: most, cursor: from }, { api, signal }) {
    const path = `/v1/snapshots/${urlPart(earlier)}/diff/${urlPart(other)}`;
    const found = await dataOf<{ isChanged: boolean; diff: unknown }>(api, {
      method: 'GET',
      path,
      query: { mode },
      signal,
    });
    if (!found.isChanged) return [text('The versions are the same in this respect.')];
    return portionParts(json(found.diff), from, most);
  },
});
