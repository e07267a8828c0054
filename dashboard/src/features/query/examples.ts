import type { QueryLanguage } from './routes.ts';

export interface Example {
  readonly name: string;
  readonly text: string;
}

const typed = (value: unknown): string => JSON.stringify(value, null, 2);

/** Questions that people ask first, and that show the grammar. */
export const EXAMPLES: Readonly<Record<QueryLanguage, readonly Example[]>> = {
  typed: [
    {
      name: 'Pages by status',
      text: typed({ from: 'pages', group: ['statusCode'], order: ['-count'] }),
    },
    {
      name: 'Broken links',
      text: typed({
        from: 'pages',
        where: { field: 'statusCode', op: 'gte', value: 400 },
        select: ['url', 'statusCode', 'errorCode', 'fetchedAt'],
        order: ['-fetchedAt'],
      }),
    },
    {
      name: 'Pages a day',
      text: typed({
        from: 'pages',
        group: [{ field: 'fetchedAt', by: 'day' }],
        select: [
          { fn: 'count', as: 'pages' },
          { fn: 'sum', field: 'bytes', as: 'bytes' },
        ],
      }),
    },
    {
      name: 'Hosts that are linked most',
      text: typed({
        from: 'links',
        where: { field: 'isInternal', value: false },
        group: ['host'],
        order: ['-count'],
        limit: 20,
      }),
    },
    {
      name: 'Prices',
      text: typed({ from: 'records', select: ['url', 'data.name', 'data.price'], order: ['data.price'] }),
    },
  ],
  sql: [
    {
      name: 'Pages by domain',
      text: 'SELECT domain, count(*) AS pages, sum(bytes) AS bytes\nFROM pages\nGROUP BY domain\nORDER BY pages DESC',
    },
    {
      name: 'Pages by status',
      text: 'SELECT status_code, count(*) AS pages\nFROM pages\nGROUP BY status_code\nORDER BY pages DESC',
    },
  ],
};

/** What is offered while SQL is typed; the lake's main columns. */
export const LAKE_TABLES: Readonly<Record<string, readonly string[]>> = {
  pages: [
    'domain',
    'date',
    'job_id',
    'url',
    'final_url',
    'status_code',
    'title',
    'content_type',
    'bytes',
    'depth',
    'fetched_at',
  ],
  links: ['domain', 'date', 'job_id', 'page_url', 'url', 'text', 'rel', 'is_internal'],
  records: ['domain', 'date', 'job_id', 'url', 'type', 'data'],
};
