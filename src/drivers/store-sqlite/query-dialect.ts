import type { LedgerDialect } from '../store-rows/ledger-statement.ts';
import { IS_PUBLIC_PAGE, type SqlDialect, truncatedEvenly } from '../store-rows/query-sql.ts';

/** A function of the connection that queries use: throws when the query has had its time. */
export const WITHIN_LIMIT = 'within_limit';

const hostOf = (url: string) =>
  `substr(${url}, instr(${url}, '//') + 2, instr(substr(${url}, instr(${url}, '//') + 2) || '/', '/') - 1)`;

export const SQLITE_DIALECT: SqlDialect = {
  tables: {
    pages: {
      // In this order the pages of an account come from two indexes, sorted by job and page.
      from: 'jobs j CROSS JOIN pages p ON p.job_seq = j.seq',
      // The function needs nothing but the index, so it is called for every page that is looked at.
      where: `${WITHIN_LIMIT}(p.seq) AND j.account_id = ?
        AND NOT EXISTS (SELECT 1 FROM job_expiry e WHERE e.job_seq = j.seq AND e.ledger > 0)`,
      place: ['p.job_seq', 'p.seq'],
    },
    snapshots: {
      from: 'snapshots s',
      where: `${WITHIN_LIMIT}(s.seq) AND s.account_id = ?`,
      place: ['s.seq', 's.seq'],
    },
  },
  isPublic: {
    pages: IS_PUBLIC_PAGE.sqlite,
    snapshots: 's.is_private = 0',
  },
  pages: {
    jobId: 'j.id',
    jobKind: 'j.kind',
    url: 'p.url',
    host: hostOf('p.url'),
    finalUrl: 'p.final_url',
    statusCode: 'p.status_code',
    contentType: 'p.content_type',
    charset: 'p.charset',
    fetchedAt: 'p.fetched_at',
    depth: 'p.depth',
    contentHash: 'p.content_hash',
    textHash: 'p.text_hash',
    bytes: 'p.bytes',
    title: 'p.title',
    etag: 'p.etag',
    lastModified: 'p.last_modified',
    duplicateOf: 'p.duplicate_of',
    errorCode: 'p.error_code',
    errorMessage: 'p.error_message',
  },
  snapshots: {
    id: 's.id',
    url: 's.url',
    host: hostOf('s.url'),
    hash: 's.hash',
    firstSeenAt: 's.first_seen_at',
    lastSeenAt: 's.last_seen_at',
    timesSeen: 's.times_seen',
    finalUrl: 's.final_url',
    statusCode: 's.status_code',
    contentType: 's.content_type',
    contentHash: 's.content_hash',
    bytes: 's.bytes',
    title: 's.title',
    price: 's.price',
    currency: 's.currency',
    availability: 's.availability',
    jobId: 's.job_id',
  },
  placeholder: (number) => `?${number}`,
  certain: (condition) => `coalesce(${condition}, 0)`,
  textTests: {
    contains: (text, part) => `instr(${text}, ${part}) > 0`,
    startsWith: (text, part) => `substr(${text}, 1, length(${part})) = ${part}`,
    endsWith: (text, part) => `substr(${text}, -length(${part})) = ${part}`,
    // lower() of SQLite knows ASCII letters only, which is what is promised.
    icontains: (text, part) => `instr(lower(${text}), lower(${part})) > 0`,
  },
  truncated(time, unit) {
    if (unit !== 'month' && unit !== 'year') return truncatedEvenly(time, unit);
    return `unixepoch(${time} / 1000, 'unixepoch', 'start of ${unit}') * 1000`;
  },
  aggregates: {
    countDistinct: (value) => `count(DISTINCT ${value})`,
    sum: (value) => `sum(${value})`,
    avg: (value) => `CAST(sum(${value}) AS REAL) / count(${value})`,
    min: (value) => `min(${value})`,
    max: (value) => `max(${value})`,
  },
};

export const SQLITE_LEDGER_DIALECT: LedgerDialect = {
  placeholder: (number) => `?${number}`,
  withinLimit: `${WITHIN_LIMIT}(t.id)`,
  lastText: (name) => `json_extract(t.trace, '$[#-1].${name}')`,
  lastNumber: (name) => `json_extract(t.trace, '$[#-1].${name}')`,
  upTo: (text, character) =>
    `CASE WHEN instr(${text}, '${character}') = 0 THEN ${text} ELSE substr(${text}, 1, instr(${text}, '${character}') - 1) END`,
  contains: SQLITE_DIALECT.textTests.icontains,
  byBytes: (text) => text,
};
