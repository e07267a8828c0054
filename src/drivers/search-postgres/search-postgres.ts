import { hash } from 'node:crypto';
import pg from 'pg';
import { isPooledUrl } from '../../core/config/place-urls.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import { type SearchDocument, searchDocumentOf } from '../../core/model/search-words.ts';
import {
  type IndexablePage,
  MOST_RANKED,
  type SearchIndex,
  type SearchQuery,
  type SearchTerm,
} from '../../core/ports/search-store.ts';
import { createReadReplica } from '../store-rows/read-replica.ts';
import { searchKeyOf } from '../store-sql/search.ts';

const CONNECT_MS = 10_000;
const STANDBY_CONNECT_MS = 1_000;
const STATEMENT_MS = 15_000;
/** Where the words of the text begin: behind those of the title, so that no phrase reaches from one into the other. */
const BODY_FROM = 300;
/** PostgreSQL keeps no more places of one word. */
const MOST_PLACES = 255;
/** Weights of D, C, B and A: words of the text have D, those of the title A. */
const WEIGHTS = '{0.1, 0.1, 0.1, 1.0}';
/** Divides by the logarithm of the length, as long texts have every word. */
const BY_LENGTH = 1;

/** Tables of the store's own database (`search_entries`), through connections of their own. */
export function openPostgresSearch(options: {
  readonly url: string;
  readonly poolSize: number;
  /** A standby of the same PostgreSQL, which is searched while it keeps up. */
  readonly readUrl?: string | undefined;
}): SearchIndex {
  const { url, poolSize, readUrl } = options;
  const primary = openPool(url, poolSize);
  const query = queryOf(primary);
  const standby = readUrl === undefined ? null : openPool(readUrl, poolSize, STANDBY_CONNECT_MS);
  const queryStandby = standby === null ? null : queryOf(standby);
  const reads = queryStandby === null ? null : createReadReplica({ primary: query, replica: queryStandby });
  /** For what is only read. */
  const find: typeof query = (sql, values) =>
    reads === null || queryStandby === null
      ? query(sql, values)
      : reads.read(
          () => queryStandby(sql, values),
          () => query(sql, values),
        );

  return {
    async put(pages) {
      const rows = pages.flatMap(rowOf);
      if (rows.length === 0) return;
      // Rows in one order, so that processes that write the same ones do not wait for each other in a circle.
      const newest = new Map<string, ReturnType<typeof rowOf>[number]>();
      for (const row of rows) {
        const name = `${row.account_id} ${row.url_key}`;
        const known = newest.get(name);
        if (known === undefined || known.fetched_at <= row.fetched_at) newest.set(name, row);
      }
      const sorted = [...newest.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
      await query(PUT, [JSON.stringify(sorted)]);
    },

    async find({ accountId, hasPrivate, words, host, jobId, offset, limit }) {
      const scope = [
        scopeWord('a', accountId),
        ...(host === undefined ? [] : [scopeWord('h', host)]),
        ...(jobId === undefined ? [] : [scopeWord('j', jobId)]),
      ].map(quoted);
      const wanted = tsqueryOf(words);
      const rows = await find(
        `SELECT job_id, page_seq, ts_rank('${WEIGHTS}', words, $2::tsquery, ${BY_LENGTH}) AS score, id FROM (
           SELECT id, job_id, page_seq, words FROM search_entries
           WHERE words @@ $1::tsquery AND account_id = $3 AND is_private <= $6 ORDER BY id DESC LIMIT ${MOST_RANKED}
         ) found ORDER BY score DESC, id DESC LIMIT $4 OFFSET $5`,
        [[...scope, `(${wanted})`].join(' & '), wanted, accountId, limit, offset, hasPrivate ? 1 : 0],
      );
      return rows.map((row) => ({
        jobId: row.job_id as JobId,
        pageSeq: Number(row.page_seq),
        score: Number(row.score),
      }));
    },

    async listJobs({ after, limit }) {
      const rows = await query(
        'SELECT DISTINCT job_id FROM search_entries WHERE job_id > $1 ORDER BY job_id LIMIT $2',
        [after ?? '', limit],
      );
      return rows.map((row) => row.job_id as JobId);
    },

    async remove({ jobId, before, limit }) {
      const rows = await query(
        `DELETE FROM search_entries WHERE id IN (
           SELECT id FROM search_entries WHERE job_id = $1 AND page_seq < $2 LIMIT $3
         ) RETURNING id`,
        [jobId, before ?? Number.MAX_SAFE_INTEGER, limit],
      );
      return rows.length;
    },

    async beginRebuild() {
      await query('UPDATE search_builds SET build = build + 1');
    },

    async endRebuild() {
      const removed = () =>
        query(
          `DELETE FROM search_entries WHERE id IN (
             SELECT e.id FROM search_entries e JOIN search_builds b ON e.build < b.build LIMIT 1000
           ) RETURNING id`,
        );
      while ((await removed()).length > 0);
    },

    close: async () => void (await Promise.all([primary.end(), standby?.end()])),
  };
}

function openPool(url: string, max: number, connectMs = CONNECT_MS): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'scrapifie search',
    connectionTimeoutMillis: connectMs,
    ...(isPooledUrl(url) ? {} : { statement_timeout: STATEMENT_MS }),
    query_timeout: STATEMENT_MS * 2,
    keepAlive: true,
  });
  pool.on('error', () => undefined);
  return pool;
}

const queryOf =
  (pool: pg.Pool) =>
  async (sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> => {
    try {
      return (await pool.query<Record<string, unknown>>(sql, [...values])).rows;
    } catch (error) {
      throw translate(error);
    }
  };

/** An entry whose words are the same keeps its place in the index; only what it points at is changed. */
const PUT = `
  WITH given AS (
    SELECT * FROM json_to_recordset($1) AS g (account_id text, url_key text, is_private smallint, host text, job_id text, page_seq bigint,
      fetched_at bigint, words_hash text, words text)
  ), build AS (
    SELECT build FROM search_builds
  ), same AS (
    UPDATE search_entries e SET page_seq = g.page_seq, fetched_at = g.fetched_at, build = b.build
    FROM given g, build b
    WHERE e.account_id = g.account_id AND e.url_key = g.url_key AND e.words_hash = g.words_hash AND e.job_id = g.job_id
      AND (e.fetched_at <= g.fetched_at OR e.build < b.build)
    RETURNING e.account_id, e.url_key
  )
  INSERT INTO search_entries (account_id, url_key, is_private, host, job_id, page_seq, fetched_at, words_hash, build, words)
  SELECT account_id, url_key, is_private, host, job_id, page_seq, fetched_at, words_hash, b.build, words::tsvector
  FROM given g, build b
  WHERE NOT EXISTS (SELECT 1 FROM same s WHERE s.account_id = g.account_id AND s.url_key = g.url_key)
  ON CONFLICT (account_id, url_key) DO UPDATE SET id = DEFAULT, host = excluded.host, job_id = excluded.job_id,
    page_seq = excluded.page_seq, fetched_at = excluded.fetched_at, words_hash = excluded.words_hash,
    build = excluded.build, words = excluded.words
  WHERE search_entries.fetched_at <= excluded.fetched_at OR search_entries.build < excluded.build`;

function rowOf(page: IndexablePage) {
  const { accountId, jobId, pageSeq, title, fetchedAt, record, bodyText } = page;
  const document = searchDocumentOf(title, record, bodyText);
  if (document === null) return [];
  const { urlKey, host } = searchKeyOf(page);
  const scope = [scopeWord('a', accountId), scopeWord('h', host), scopeWord('j', jobId)];
  const words = `${tsvectorOf(document)} ${scope.map(quoted).join(' ')}`;
  return [
    {
      account_id: accountId,
      url_key: urlKey,
      is_private: page.isPrivate ? 1 : 0,
      host,
      job_id: jobId,
      page_seq: pageSeq,
      fetched_at: fetchedAt,
      words_hash: hash('sha256', words, 'base64url').slice(0, 22),
      words,
    },
  ];
}

/** Accounts, hosts and jobs among the words. */
const scopeWord = (kind: 'a' | 'h' | 'j', name: string) => `${kind}:${name}`;

/** In the syntax of PostgreSQL for one word. Words of texts have no quotes; names of hosts and accounts are made safe. */
const quoted = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

function tsvectorOf({ title, body }: SearchDocument): string {
  const places = new Map<string, string[]>();
  const add = (word: string, place: string) => {
    const known = places.get(word);
    if (known === undefined) places.set(word, [place]);
    else if (known.length < MOST_PLACES) known.push(place);
  };
  for (const [index, word] of title.entries()) add(word, `${index + 1}A`);
  for (const [index, word] of body.entries()) add(word, `${BODY_FROM + index}`);
  return [...places].map(([word, at]) => `${quoted(word)}:${at.join(',')}`).join(' ');
}

function tsqueryOf({ all, none }: SearchQuery): string {
  const wanted = all.map((alternatives) => `(${alternatives.map(termOf).join(' | ')})`);
  return [...wanted, ...none.map((term) => `!(${termOf(term)})`)].join(' & ');
}

function termOf({ words, isPrefix, isInTitle }: SearchTerm): string {
  return words
    .map((word, index) => {
      const marks = `${isPrefix && index === words.length - 1 ? '*' : ''}${isInTitle ? 'A' : ''}`;
      return `${quoted(word)}${marks === '' ? '' : `:${marks}`}`;
    })
    .join(' <-> ');
}

/** A server that is away is one for which the reader waits; anything else is a fault of ours. */
function translate(error: unknown): unknown {
  const { code } = error as { code?: string };
  const isRefusal = code !== undefined && /^(?:22|23|42|54|XX)/.test(code);
  if (isRefusal) return error;
  const why = code === '53100' ? 'DISK_FULL' : 'STORE_UNAVAILABLE';
  return new ScrapifieError(why, 'The search index in PostgreSQL cannot be used at the moment.', {
    cause: error,
  });
}
