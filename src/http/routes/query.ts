import { z } from 'zod';
import { allows } from '../../capabilities/accounts/scopes.ts';
import { parseRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { CONDITION_LIMITS, OPERATORS } from '../../capabilities/query/parse-condition.ts';
import { MOST_CURSOR_CHARS, QUERY_LIMITS } from '../../capabilities/query/parse-query.ts';
import {
  answerOf,
  eachSqlItem,
  SQL_LIMITS,
  sqlFields,
  sqlRequestSchema,
} from '../../capabilities/query/sql/sql-request.ts';
import { QUERY_CATALOGUE, QUERY_SOURCES } from '../../core/model/query-fields.ts';
import { AGGREGATES, TIME_UNITS } from '../../core/ports/query-store.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { clientGone } from '../server/client-gone.ts';
import { answers, success } from '../server/envelope.ts';
import { orLines, sendNdjson, wantsNdjson } from '../server/ndjson.ts';
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
