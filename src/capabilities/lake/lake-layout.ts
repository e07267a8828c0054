import { createHash } from 'node:crypto';
import type { AccountId } from '../../core/model/ids.ts';
import type { LakeTable } from '../../core/ports/lake-store.ts';

/** `text` is UTF-8, `time` milliseconds since 1970 in UTC without a zone. */
export type LakeType = 'text' | 'int32' | 'int64' | 'double' | 'boolean' | 'time';

export interface LakeColumn {
  readonly name: string;
  readonly type: LakeType;
  /** The version of the schema that added it. */
  readonly since: number;
  /** For docs/lake.md and the manifest. */
  readonly meaning: string;
}

/** Grows when a column is added. A column is never changed, renamed or removed, so every file of the lake stays readable. */
export const LAKE_SCHEMA_VERSION = 1;

const column = (name: string, type: LakeType, meaning: string, since = 1): LakeColumn => ({
  name,
  type,
  since,
  meaning,
});

/** What the rows of all tables begin with. */
const PAGE_KEY: readonly LakeColumn[] = [
  column('job_id', 'text', 'The job that fetched the page.'),
  column('task_id', 'int64', 'The URL of the job; unique in the installation.'),
  column('page_seq', 'int64', 'The number of the page; grows with each page that is stored.'),
  column('url', 'text', 'The URL of the page, canonical, as the job knows it.'),
  column('host', 'text', 'The host of that URL, in lower case, with the port where it is not the default.'),
  column('fetched_at', 'time', 'When the page was fetched, UTC.'),
];

export const LAKE_COLUMNS: Readonly<Record<LakeTable, readonly LakeColumn[]>> = {
  pages: [
    ...PAGE_KEY,
    column('final_url', 'text', 'Where redirects led.'),
    column('status_code', 'int32', 'Of the last response; null when there was none.'),
    column('content_type', 'text', 'As the server sent it.'),
    column('charset', 'text', 'The charset that the body was read with.'),
    column('depth', 'int32', 'Links between a start URL and the page.'),
    column('bytes', 'int64', 'Bytes of the body.'),
    column('content_hash', 'text', 'SHA-256 of the body.'),
    column('text_hash', 'text', 'Hash of the normalized text.'),
    column('title', 'text', 'The title of the document.'),
    column('description', 'text', 'The meta description.'),
    column('language', 'text', 'The language that the document states.'),
    column('canonical_url', 'text', 'rel=canonical.'),
    column('robots', 'text', 'The robots meta tag.'),
    column('h1', 'text', 'The first heading of level 1.'),
    column('word_count', 'int32', 'Words of the main content, where the job asked for it.'),
    column('link_count', 'int32', 'Rows that the page has in `links`.'),
    column('outcome', 'text', 'What the response was: ok, blocked, captcha …'),
    column('is_rendered', 'boolean', 'Whether a browser rendered the page.'),
    column('etag', 'text', 'The ETag of the response.'),
    column('last_modified', 'text', 'The Last-Modified of the response.'),
    column('duplicate_of', 'text', 'The URL whose page this one repeats.'),
    column('error_code', 'text', 'Why the page failed; null for a page that was fetched well.'),
    column('error_message', 'text', 'The same in words.'),
  ],
  links: [
    ...PAGE_KEY,
    column('position', 'int32', 'The place of the link on its page, from 0.'),
    column('link_url', 'text', 'Where the link leads.'),
    column('link_host', 'text', 'The host of that URL; null when it has none.'),
    column('text', 'text', 'The anchor text, or the alt text of the image in it.'),
    column('rel', 'text', 'The rel attribute.'),
    column('kind', 'text', 'Where it stood: a, area, frame, form, canonical, next, header …'),
    column('is_internal', 'boolean', 'Whether it leads to the host of the page.'),
  ],
  records: [
    ...PAGE_KEY,
    column('type', 'text', 'The type that was extracted; null when only rules or content were asked for.'),
    column('probability', 'double', 'How likely the page is of that type, 0 to 1.'),
    column('data', 'text', 'The extracted fields, JSON.'),
    column('structured', 'text', 'JSON-LD, microdata and RDFa, JSON.'),
    column('title', 'text', 'The title of the content.'),
    column('author', 'text', 'The author of the content.'),
    column('published_at', 'text', 'When the content was published, ISO 8601.'),
    column('modified_at', 'text', 'When the content was changed, ISO 8601.'),
    column('page_type', 'text', 'What kind of page it looks like.'),
    column('text', 'text', 'The text, where the job asked for it.'),
    column('markdown', 'text', 'The Markdown, where the job asked for it.'),
  ],
};

const MOST_NAME_CHARACTERS = 120;
const KEPT_CHARACTERS = 80;
const HASH_CHARACTERS = 24;

/**
 * The host of a URL in lower case, with its port where that is not the default. Null when the URL has none.
 */
export function hostOf(url: string): string | null {
  const host = URL.parse(url)?.host ?? '';
  return host === '' ? null : host;
}

/**
 * A host as the name of a partition: letters, digits, dots and dashes stand for themselves, every other byte, and a dot
 * at either end, is `_` and two hexadecimal digits. Names of internationalized hosts are in ASCII already (`xn--…`). A
 * name that would be too long for a file system ends in a hash. Different hosts have different names.
 */
export function partitionName(host: string): string {
  if (host === '') return '_none';
  let name = '';
  for (const byte of Buffer.from(host.toLowerCase(), 'utf8')) {
    const character = String.fromCharCode(byte);
    name += /[a-z0-9.-]/.test(character) ? character : hex(byte);
  }
  name = name.replace(/^\./, hex(0x2e)).replace(/\.$/, hex(0x2e));
  if (name.length <= MOST_NAME_CHARACTERS) return name;
  const hash = createHash('sha256').update(host.toLowerCase()).digest('hex').slice(0, HASH_CHARACTERS);
  // No escape is `_h`, so this is no name of another host.
  return `${name.slice(0, KEPT_CHARACTERS)}_h${hash}`;
}

const hex = (byte: number) => `_${byte.toString(16).padStart(2, '0')}`;

/** The UTC day of a time, `YYYY-MM-DD`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export interface LakePartition {
  readonly accountId: AccountId;
  readonly table: LakeTable;
  readonly domain: string;
  readonly date: string;
}

const FILE_SUFFIX = '.parquet';

/** Where a file of the lake lies, within the place of the lake. */
export const lakePath = ({ accountId, table, domain, date }: LakePartition, id: string): string =>
  `${accountId}/${table}/domain=${domain}/date=${date}/${id}${FILE_SUFFIX}`;

export const manifestPath = (accountId: AccountId): string => `${accountId}/_manifest.json`;

/** Null when the path is not that of a manifest. */
export const accountOfManifest = (path: string): AccountId | null =>
  (/^([^/]+)\/_manifest\.json$/.exec(path)?.[1] as AccountId | undefined) ?? null;

/** Begins with the time of its making, so that an orphan tells its age by its name. */
export function newFileId(madeAt: number, randomHex: string): string {
  return `${Math.floor(madeAt).toString(16).padStart(12, '0')}-${randomHex}`;
}

const LAKE_FILE = /^([^/]+)\/(?:pages|links|records)\/.*\/([0-9a-f]{12})-([0-9a-f]+)\.parquet$/;

/** What a path of the lake says; null when no file of the lake has such a path. */
export function readLakePath(path: string): { accountId: AccountId; id: string; madeAt: number } | null {
  const [, accountId, time, random] = LAKE_FILE.exec(path) ?? [];
  if (accountId === undefined || time === undefined || random === undefined) return null;
  return { accountId: accountId as AccountId, id: `${time}-${random}`, madeAt: Number.parseInt(time, 16) };
}
