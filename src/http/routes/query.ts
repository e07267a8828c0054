import { z } from 'zod';
import { allows, requireReadable } from '../../capabilities/accounts/scopes.ts';
import { parseRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { CONDITION_LIMITS, OPERATORS } from '../../capabilities/query/parse-condition.ts';
import { MOST_CURSOR_CHARS, QUERY_LIMITS } from '../../capabilities/query/parse-query.ts';
import type { SearchHit } from '../../capabilities/query/search/searches.ts';
import {
  answerOf,
  eachSqlItem,
  SQL_LIMITS,
  sqlFields,
  sqlRequestSchema,
} from '../../capabilities/query/sql/sql-request.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { QUERY_CATALOGUE, QUERY_SOURCES } from '../../core/model/query-fields.ts';
import { AGGREGATES, TIME_UNITS } from '../../core/ports/query-store.ts';
import { SEARCH_LIMITS } from '../../core/ports/search-store.ts';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { clientGone } from '../server/connections.ts';
import { answers, success } from '../server/envelope.ts';
import { orLines, sendNdjson, wantsNdjson } from '../server/large-answers.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const columnList = z
  .array(z.union([z.string().max(600), z.record(z.string(), z.unknown())]))
  .max(QUERY_LIMITS.columns);

const typedFields = {
  from: z
    .string()
    .max(100)
    .describe(`What the rows are: ${QUERY_SOURCES.join(', ')}.`),
  select: columnList
    .optional()
    .describe(
      'Columns: names of fields, `{"field": "fetchedAt", "by": "day"}`, or ' +
        `\`{"fn": "sum", "field": "bytes", "as": "total"}\` with one of ${AGGREGATES.join(', ')}. ` +
        'Left out: some fields of the source; of groups, how many rows each has.',
    ),
  where: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      `\`{"field", "op", "value"}\` with one of ${OPERATORS.join(', ')}, or \`{"and": […]}\`, \`{"or": […]}\`, ` +
        `\`{"not": {…}}\`; at most ${CONDITION_LIMITS.comparisons} comparisons, ${CONDITION_LIMITS.depth} levels deep.`,
    ),
  group: columnList
    .optional()
    .describe(
      `One row for each value: names of fields, or \`{"field", "by"}\` with ${TIME_UNITS.join(', ')} in UTC. ` +
        'An empty list is one group of all rows.',
    ),
  order: z
    .array(z.string().max(600))
    .max(QUERY_LIMITS.orders)
    .optional()
    .describe('Names of fields or columns; `-bytes` is from the largest down. Nulls come last.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(QUERY_LIMITS.groups)
    .optional()
    .describe(
      `Rows at most: ${QUERY_LIMITS.defaultRows} when left out, up to ${QUERY_LIMITS.rows}, of groups ${QUERY_LIMITS.groups}.`,
    ),
  cursor: z
    .string()
    .max(MOST_CURSOR_CHARS)
    .optional()
    .describe('`nextCursor` of the answer before, with the same query; not for groups.'),
};

export const queryRequestSchema = z.strictObject(typedFields);

const MOST_ROWS = Math.max(QUERY_LIMITS.groups, SQL_LIMITS.rows.most);

/** Either half; which fields belong together is checked by the schema of the half. */
const eitherSchema = z
  .strictObject({
    ...typedFields,
    ...sqlFields,
    from: typedFields.from.optional(),
    sql: sqlFields.sql.optional(),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MOST_ROWS)
      .optional()
      .describe(`${typedFields.limit.description}
      Of SQL up to ${SQL_LIMITS.rows.most}.`),
    // Without its default, which the other half does not know.
    timeoutMs: sqlFields.timeoutMs.unwrap().optional(),
  })
  .meta({
    id: 'QueryRequest',
    examples: [
      {
        from: 'pages',
        where: { field: 'statusCode', op: 'gte', value: 400 },
        group: ['host', 'statusCode'],
        order: ['-count'],
        limit: 20,
      },
      { sql: 'SELECT host, count(*) AS pages FROM pages GROUP BY host ORDER BY pages DESC' },
    ],
  });

const resultSchema = z
  .object({
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string().describe('text, number, time, boolean or json; of SQL, the type in DuckDB.'),
      }),
    ),
    items: z
      .array(z.record(z.string(), z.unknown()))
      .describe('One object per row, with the names of `columns`.'),
    nextCursor: z.string().nullable().describe('Where the next rows begin; null at the end, and of groups.'),
    isTruncated: z.boolean().describe('There are more groups than `limit`.'),
  })
  .meta({ id: 'QueryResult' });

const fieldList = QUERY_SOURCES.map(
  (source) =>
    `**${source}**: ${[...QUERY_CATALOGUE[source].values()].map(({ name, type }) => `\`${name}\` ${type}`).join(', ')}.`,
).join('\n\n');

/** Questions about what the account has stored. */
export function addQueryRoutes(app: App, { queries, sql }: SharedRouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/query',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['query'],
      summary: 'Ask about stored pages, links, records and snapshots',
      description:
        'Filters, groups and counts what the account has stored. Times are ISO 8601, in UTC where they name no zone. ' +
        'With `sql` in place of `from` it is SQL over the lake, which may also be streamed, one object per line, with ' +
        '`Accept: application/x-ndjson`; see docs/query.md. ' +
        `A query may take ten seconds. Fields by source:\n\n${fieldList}`,
      body: eitherSchema,
      response: orLines(answers({ 200: resultSchema })),
    },
    async handler(request, reply) {
      const { accountId, scopes } = apiKeyOf(request);
      const reader = { accountId, hasPrivate: allows(scopes, 'credentials:read') };
      if (request.body.sql === undefined) {
        return success(await queries.run(reader, parseRequest(queryRequestSchema, request.body)));
      }
      const asked = parseRequest(sqlRequestSchema, request.body);
      const isStreamed = wantsNdjson(request);
      const result = await sql.run(reader, asked, { signal: clientGone(reply), isStreamed });
      return isStreamed ? sendNdjson(reply, eachSqlItem(result)) : success(await answerOf(result));
    },
  });
}

const MOST_HITS = 100;
const DEFAULT_HITS = 20;

const markedSchema = z.object({
  text: z.string().describe('Plain text of the page. Never HTML: escape it where you show it.'),
  marks: z
    .array(z.array(z.number().int()).length(2))
    .describe('What was found in it: start and end, counted in UTF-16 units as JavaScript does.'),
});

const hitSchema = z
  .object({
    url: z.string(),
    jobId: z.string().describe('The job that has the newest content of the URL.'),
    statusCode: z.number().int().nullable(),
    fetchedAt: z.iso.datetime(),
    score: z.number().describe('Larger is better; only for comparing hits of one search.'),
    title: markedSchema.nullable(),
    snippet: markedSchema,
  })
  .meta({ id: 'SearchHit' });

/** Full-text search over stored pages. */
export function addSearchRoutes(app: App, { searches, jobs }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/search',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['query'],
      summary: 'Search the text of stored pages',
      description:
        'Finds pages of jobs with `search: true`: the newest content of each URL, best first. All words must be on the page. ' +
        '`"a b"` is a phrase, `wor*` the beginning of a word, `-word` must not be on the page, `a OR b` is either, ' +
        '`title:word` must be in the title. Case and accents do not matter. See docs/search.md.',
      querystring: z.strictObject({
        q: z
          .string()
          .min(1)
          .max(SEARCH_LIMITS.queryChars)
          .describe('Words to search for.')
          .meta({ example: 'solar "heat pump" -used' }),
        host: z.string().min(1).max(255).optional().describe('Only pages of this host.'),
        job: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('Only pages whose newest content is of this job.'),
        cursor: pagingFields.cursor,
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .max(MOST_HITS)
          .default(DEFAULT_HITS)
          .describe('Hits per answer at most.'),
      }),
      response: answers({ 200: listSchema(hitSchema) }),
    },
    async handler(request) {
      const { q, host, job: jobId, limit } = request.query;
      const key = apiKeyOf(request);
      const job = jobId === undefined ? null : await jobs.get(jobId, key.accountId);
      if (job !== null) requireReadable(key, job);
      const scope = { accountId: key.accountId, hasPrivate: allows(key.scopes, 'credentials:read') };
      const answer = await searches.run(scope, {
        q,
        host: host === undefined ? undefined : hostOf(host),
        jobId: job?.id,
        limit,
        cursor: unwrapCursor('search', request.query.cursor),
      });
      return success(listAnswer('search', answer, (hit: SearchHit) => hit));
    },
  });
}
