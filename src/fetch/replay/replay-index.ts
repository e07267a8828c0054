import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type ByteSource, partOf } from '../../lib/warc/byte-source.ts';
import type { OpenArchive } from '../../lib/warc/open-archive.ts';
import { type ScannedRecord, scanRecords } from '../../lib/warc/read-records.ts';
import { firstValue, headLength, parseHead, statusOf } from '../../lib/warc/warc-record.ts';

/** A record of the archive that a request can be answered with, or that helps to. */
export interface Capture {
  readonly url: string;
  readonly kind: CaptureKind;
  readonly id: string;
  readonly file: number;
  readonly offset: number;
  /** Length of the record in the file, in bytes. */
  readonly length: number;
  /** Status code of the HTTP message in the record; null when the record holds no message. */
  readonly statusCode: number | null;
  readonly contentType: string | null;
  /** For a revisit, the record that has the body, by id, by URL and time, and by digest. */
  readonly refersTo: string | null;
  readonly refersToUrl: string | null;
  readonly refersToAt: number | null;
  readonly digest: string | null;
  readonly isNotModified: boolean;
}

/** `facts`: what Scrapifie itself wrote about a page. */
type CaptureKind = 'response' | 'revisit' | 'resource' | 'conversion' | 'facts';

/** Where each URL of an archive lies. It is on a disk, so its size does not matter. */
export interface ReplayIndex {
  readonly captures: number;
  /** Files that end within a record, as those of a killed writer do; what they hold before it is in the index. */
  readonly truncated: readonly string[];
  /** The newest answer to this request; null when there is none. */
  find(url: string, method: string): Capture | null;
  byId(id: string): Capture | null;
  /** The record with the body that a revisit refers to; null when the archive does not have it. */
  original(revisit: Capture): Capture | null;
  /** The facts about the page of a capture. */
  factsOf(capture: Capture): Capture | null;
  /** The facts about a page that no response came for. */
  failureOf(url: string): Capture | null;
  /** The document that a browser made of a response. */
  conversionOf(capture: Capture): Capture | null;
  close(): void;
}

const FACTS_TYPE = 'application/vnd.scrapifie.page+json';
const TYPES: ReadonlySet<string> = new Set(['response', 'revisit', 'resource', 'conversion']);
const NOT_MODIFIED = /\/revisit\/server-not-modified$/;
/** Other tools write the method into the URL of what was posted. */
const METHOD_IN_URL = /[?&]__wb_method=([A-Z]+)/;
const ROWS_PER_COMMIT = 10_000;

const SCHEMA = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -16000;
  CREATE TABLE captures (
    url TEXT NOT NULL, method TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
    file INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, status INTEGER, contentType TEXT, refersTo TEXT,
    refersToUrl TEXT, refersToAt INTEGER, digest TEXT, isNotModified INTEGER NOT NULL
  );
  CREATE TABLE methods (id TEXT PRIMARY KEY, method TEXT NOT NULL) WITHOUT ROWID;`;

const INDEXES = `
  UPDATE captures SET method = (SELECT method FROM methods WHERE methods.id = captures.id)
    WHERE id IN (SELECT id FROM methods);
  CREATE INDEX captures_by_url ON captures (url, at);
  CREATE INDEX captures_by_id ON captures (id);
  CREATE INDEX captures_by_reference ON captures (refersTo);
  CREATE INDEX captures_by_digest ON captures (digest);`;

/** Reads the archive once from its beginning to its end. Throws BAD_ARCHIVE. */
export async function buildReplayIndex(archive: OpenArchive): Promise<ReplayIndex> {
  const { DatabaseSync: Database } = await import('node:sqlite');
  // Without a name it is a file that is gone when it is closed, or when the process is.
  const database: DatabaseSync = new Database('');
  try {
    database.exec(SCHEMA);
    const truncated = await fill(database, archive);
    database.exec(INDEXES);
    return createIndex(database, truncated);
  } catch (error) {
    database.close();
    throw error;
  }
}

async function fill(database: DatabaseSync, archive: OpenArchive): Promise<string[]> {
  const insert = database.prepare(
    'INSERT INTO captures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertMethod = database.prepare('INSERT OR REPLACE INTO methods VALUES (?, ?)');
  const truncated: string[] = [];
  let rows = 0;
  database.exec('BEGIN');
  for (const [file, source] of archive.files.entries()) {
    const records = scanRecords(source);
    let count = 0;
    for (;;) {
      const step = await records.next();
      if (step.done === true) {
        if (step.value.isTruncated && count === 0) {
          throw new ScrapifieError('BAD_ARCHIVE', `${source.name} ends within its first record.`);
        }
        if (step.value.isTruncated) truncated.push(source.name);
        break;
      }
      count += 1;
      addRecord(step.value, file, insert, insertMethod);
      rows += 1;
      if (rows % ROWS_PER_COMMIT === 0) database.exec('COMMIT; BEGIN');
    }
  }
  database.exec('COMMIT');
  return truncated;
}

function addRecord(
  record: ScannedRecord,
  file: number,
  insert: StatementSync,
  insertMethod: StatementSync,
): void {
  const { fields, start, offset, length } = record;
  const field = (name: string) => firstValue(fields[name]);
  const type = field('warc-type') ?? '';
  const url = normalizedUrl(field('warc-target-uri') ?? '');
  if (url === null) return;
  if (type === 'request') {
    const method = /^[A-Z]{1,20}(?= )/.exec(start.toString('latin1', 0, 24))?.[0] ?? 'GET';
    const answers = [fields['warc-concurrent-to'] ?? []].flat();
    if (method !== 'GET') for (const id of answers) insertMethod.run(id, method);
    return;
  }
  const isFacts = type === 'metadata' && field('content-type') === FACTS_TYPE;
  if (!isFacts && !TYPES.has(type)) return;
  const contentType = field('content-type');
  const isMessage = /^application\/http\b/i.test(contentType ?? '') && start.length > 0;
  const headBytes = headLength(start);
  const message = isMessage ? parseHead(headBytes === -1 ? start : start.subarray(0, headBytes)) : null;
  // An entry for names, mail addresses and the like is no answer to a request.
  if (type === 'response' && message === null) return;
  insert.run(
    url,
    METHOD_IN_URL.exec(url)?.[1] ?? 'GET',
    timeOf(field('warc-date')) ?? 0,
    isFacts ? 'facts' : type,
    field('warc-record-id') ?? '',
    file,
    offset,
    length,
    message === null ? null : statusOf(message),
    message === null ? contentType : firstValue(message.headers['content-type']),
    isFacts ? field('warc-concurrent-to') : field('warc-refers-to'),
    normalizedUrl(field('warc-refers-to-target-uri') ?? ''),
    timeOf(field('warc-refers-to-date')),
    field('warc-payload-digest'),
    NOT_MODIFIED.test(field('warc-profile') ?? '') ? 1 : 0,
  );
}

/** Returns null for text that is not a URL. Some tools write URLs in angle brackets. */
function normalizedUrl(text: string): string | null {
  const url = URL.parse(text.replace(/^<(.*)>$/, '$1'));
  if (url === null) return null;
  url.hash = '';
  return url.href;
}

/** Times of WARC 1.0 have seconds, those of 1.1 may have nanoseconds. */
function timeOf(text: string | null): number | null {
  const at = text === null ? Number.NaN : Date.parse(text.replace(/(\.\d{3})\d+/, '$1'));
  return Number.isNaN(at) ? null : at;
}

interface Row extends Omit<Capture, 'statusCode' | 'isNotModified'> {
  readonly status: number | null;
  readonly isNotModified: number;
}

function createIndex(database: DatabaseSync, truncated: readonly string[]): ReplayIndex {
  const select = (rest: string) => database.prepare(`SELECT * FROM captures WHERE ${rest} LIMIT 1`);
  const byUrl = select(
    "url = ? AND method = ? AND kind IN ('response', 'revisit', 'resource') ORDER BY at DESC, kind = 'resource', rowid DESC",
  );
  const byId = select("id = ? AND kind <> 'facts'");
  const byPlace = select("url = ? AND at = ? AND kind IN ('response', 'resource')");
  const byDigest = select("digest = ? AND kind IN ('response', 'resource')");
  const facts = select("refersTo = ? AND kind = 'facts' ORDER BY rowid DESC");
  const failure = select("url = ? AND kind = 'facts' AND refersTo IS NULL ORDER BY at DESC");
  const conversion = select("refersTo = ? AND kind = 'conversion' ORDER BY rowid DESC");
  const captures = Number(database.prepare('SELECT count(*) AS n FROM captures').get()?.n ?? 0);
  const get = (statement: StatementSync, ...values: (string | number)[]): Capture | null => {
    const row = statement.get(...values) as unknown as Row | undefined;
    if (row === undefined) return null;
    const { status, isNotModified, ...rest } = row;
    return { ...rest, statusCode: status, isNotModified: isNotModified === 1 };
  };
  return {
    captures,
    truncated,
    find: (url, method) => get(byUrl, url, method),
    byId: (id) => get(byId, id),
    original({ refersTo, refersToUrl, refersToAt, digest }) {
      const named = refersTo === null ? null : get(byId, refersTo);
      if (named !== null && (named.kind === 'response' || named.kind === 'resource')) return named;
      const placed =
        refersToUrl === null || refersToAt === null ? null : get(byPlace, refersToUrl, refersToAt);
      return placed ?? (digest === null ? null : get(byDigest, digest));
    },
    factsOf: ({ id }) => get(facts, id),
    failureOf: (url) => get(failure, url),
    conversionOf: ({ id }) => get(conversion, id),
    close: () => database.close(),
  };
}

/** An archive that was opened: its files, and where each URL lies in them. */
export interface ReplayArchive {
  readonly index: ReplayIndex;
  readonly files: readonly ByteSource[];
}

export const notInArchive = (message: string): ScrapifieError =>
  new ScrapifieError('NOT_IN_ARCHIVE', message);

/** The file of the record, up to its end: no more is read than there is of it. */
export function fileOf({ files }: ReplayArchive, { file, url, offset, length }: Capture): ByteSource {
  const source = files[file];
  if (source === undefined) throw notInArchive(`${url.slice(0, 500)} is in a file that is not open.`);
  return partOf(source, source.name, 0, offset + length);
}
