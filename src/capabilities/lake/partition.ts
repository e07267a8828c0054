import { createHash } from 'node:crypto';
import type { AccountId } from '../../core/model/ids.ts';
import type { LakeTable } from '../../core/ports/lake-store.ts';

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
