import { constants, existsSync } from 'node:fs';
import { access, mkdir, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keyFileOf, readVaultKeys } from '../../core/config/vault-keys.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { describeBytes } from '../../lib/human-units.ts';
import { DATABASE_FILE } from '../folders/crawl-folder.ts';
import { describePlace } from '../folders/data-folder.ts';
import {
  type Check,
  type Finding,
  failure,
  failureOf,
  fine,
  NOT_USED,
  type Patient,
  warning,
} from './finding.ts';

const LOW_DISK_BYTES = 1_000_000_000;
const LEAST_DISK_BYTES = 50_000_000;
const LOW_FILES = 10_000;
const NOTICED_SKEW_MS = 2_000;
/** Signatures of a clock that differs more are refused by S3. */
const REFUSED_SKEW_MS = 900_000;
const LEAST_POSTGRES = 15;
const LOW_REDIS_CONNECTIONS = 20;

/** File systems across a network, by the number that statfs has for them: SQLite's log needs memory that processes share. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'CephFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x19830326, 'BeeGFS'],
  [0x5346414f, 'AFS'],
]);
const FUSE = 0x65735546;
const TMPFS = 0x01021994;
const OVERLAY = 0x794c7630;

/** The places where an installation keeps everything. */
export const PLACE_CHECKS = {
  async 'data folder'({ settings: { dataDir, databaseUrl } }) {
    const existing = nearestFolder(dataDir);
    if (!(await stat(existing)).isDirectory()) {
      return failure(`${existing} is not a folder`, 'name another one with --data-dir');
    }
    try {
      await access(existing, constants.W_OK | constants.X_OK);
      if (existing === dataDir) await writeProbe(dataDir);
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      return failure(
        `${existing} cannot be written (${code})`,
        WRITE_ADVICE[code] ?? 'change its owner or its mode',
      );
    }
    if (existing !== dataDir) return tryToMake(dataDir, existing);
    return databaseUrl === undefined ? fileSystemOf(dataDir) : fine(dataDir);
  },

  async 'disk space'({ settings: { dataDir } }) {
    const { bavail, bsize, ffree, files } = await statfs(nearestFolder(dataDir));
    const free = bavail * bsize;
    const found = `${describeBytes(free)} free`;
    if (files > 0 && ffree < LOW_FILES) {
      return warning(
        `${found}, and ${ffree} files may still be made`,
        'delete files, or use a disk with more inodes',
      );
    }
    if (free >= LOW_DISK_BYTES) return fine(found);
    const advice = 'make room, or put the data folder on another disk';
    return free >= LEAST_DISK_BYTES ? warning(found, advice) : failure(found, advice);
  },

  async database(patient) {
    return patient.settings.databaseUrl === undefined
      ? checkSqlite(patient)
      : checkPostgres(patient, patient.settings.databaseUrl);
  },

  async 'derived files'({ settings: { dataDir } }) {
    const names = DERIVED_FILES.filter((name) => existsSync(join(dataDir, name)));
    for (const name of names) {
      const file = join(dataDir, name);
      const damage = damageOf(file);
      if (damage !== null) {
        return warning(
          `${file} is damaged: ${damage}`,
          'look at the disk; a server makes the file again when it meets the damage, and what it is made from is not lost',
        );
      }
    }
    for (const name of DERIVED_FILES) {
      const kept = join(dataDir, `${name}.damaged`);
      if (!existsSync(kept)) continue;
      const at = (await stat(kept)).ctime.toISOString();
      return warning(
        `${join(dataDir, name)} was damaged, and was made again on ${at}`,
        `look at the disk, then delete ${kept}`,
      );
    }
    return fine(names.length === 0 ? 'none yet' : names.join(', '));
  },

  async vault({ settings }) {
    if (readVaultKeys(settings).vaultKey !== undefined) return fine('there is a key');
    if (settings.allowPlainSecrets) {
      return warning(
        'off: secrets are stored as they are',
        'unset SCRAPIFIE_ALLOW_PLAIN_SECRETS and set SCRAPIFIE_VAULT_KEY',
      );
    }
    if (settings.databaseUrl === undefined) return fine(`a key will be made in ${keyFileOf(settings)}`);
    return warning(
      'there is no key, and with PostgreSQL none is made: sessions, credentials and secrets of jobs cannot be kept',
      'set SCRAPIFIE_VAULT_KEY to 32 random bytes, the same for all processes: `openssl rand -hex 32`',
    );
  },

  async redis({ shell, settings: { redisUrl, redisPrefix } }) {
    if (redisUrl === undefined) return NOT_USED;
    let facts: Awaited<ReturnType<typeof shell.inspect.redis>>;
    try {
      facts = await shell.inspect.redis(redisUrl, redisPrefix);
    } catch (error) {
      return failureOf(error, REDIS_ADVICE[isScrapifieError(error) ? error.code : ''] ?? REDIS_AWAY);
    }
    const { address, version, mode, isReplica, evictionPolicy, freeConnections, isPersistent } = facts;
    const kept = isPersistent ? 'persistent' : 'in memory only, which is enough';
    const found = `${address}, ${mode}, version ${version}, ${evictionPolicy}, ${kept}`;
    if (isReplica)
      return failure(
        `${found}, a replica`,
        'name the primary in SCRAPIFIE_REDIS_URL: a replica takes no writes',
      );
    if (evictionPolicy !== 'noeviction') {
      return warning(
        found,
        'set maxmemory-policy to noeviction before maxmemory is set: evicted keys are work forgotten',
      );
    }
    if (freeConnections < LOW_REDIS_CONNECTIONS) {
      return warning(`${found}, ${freeConnections} connections left`, 'raise maxclients of Redis');
    }
    return fine(found);
  },

  async 'object store'({ shell, settings: { s3Url } }) {
    if (s3Url === undefined) return NOT_USED;
    try {
      const { endpoint, bucket, prefix, hasLifecycleRules, aheadMs } = await shell.inspect.bucket(s3Url);
      const found = `${endpoint}, bucket ${bucket}${prefix === '' ? '' : `, folder ${prefix}`}`;
      if (aheadMs !== null && Math.abs(aheadMs) > REFUSED_SKEW_MS / 3) {
        const seconds = Math.round(aheadMs / 1_000);
        return warning(
          `${found}, its clock is ${seconds} s ahead`,
          'set the clocks by a time server: S3 refuses requests after 15 minutes',
        );
      }
      if (hasLifecycleRules === true) return fine(found);
      const why =
        hasLifecycleRules === null ? 'its lifecycle rules may not be read' : 'no lifecycle rules yet';
      return fine(`${found}, ${why}; the scheduler removes what was left behind`);
    } catch (error) {
      return failureOf(error, S3_ADVICE[isScrapifieError(error) ? error.code : '']);
    }
  },
} as const satisfies Readonly<Record<string, Check>>;

/** Files of SQLite in a data folder that are made from what lies beside them. */
const DERIVED_FILES = ['blobs/index.db', 'spilled/index.db', 'transit/index.db', 'search.db'] as const;

/** What SQLite's check finds in the file, which is only read; null when it finds nothing. */
function damageOf(file: string): string | null {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const verdict = String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
      return verdict === 'ok' ? null : verdict.replaceAll(/\s+/g, ' ');
    } finally {
      database.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}

const WRITE_ADVICE: Readonly<Record<string, string>> = {
  EROFS: 'mount it writable, or name another folder with --data-dir; containers need a volume there',
  ENOSPC: 'make room on the disk, or name a folder on another one',
  EDQUOT: 'raise the quota of the user, or make room',
};
const REDIS_AWAY =
  'start Redis, or correct host and port in SCRAPIFIE_REDIS_URL; a firewall may be in between';
const REDIS_ADVICE: Readonly<Record<string, string>> = {
  QUEUE_UNAVAILABLE: REDIS_AWAY,
  QUEUE_REFUSED:
    'correct user, password or database number in SCRAPIFIE_REDIS_URL, or upgrade Redis to 6.2 or newer',
  QUEUE_UNSAFE: 'set it: `redis-cli CONFIG SET maxmemory-policy noeviction`, and in redis.conf',
};
const S3_ADVICE: Readonly<Record<string, string>> = {
  BLOBS_UNAVAILABLE:
    'start the object store, or correct host and port in SCRAPIFIE_S3_URL; a firewall may be in between',
  BLOBS_REFUSED:
    'correct key, secret and bucket in SCRAPIFIE_S3_URL; the role needs PutObject, GetObject, ListBucket and DeleteObject',
  DISK_FULL: 'make room in the object store',
};
const POSTGRES_ADVICE: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE:
    'start PostgreSQL, or correct host and port in SCRAPIFIE_DATABASE_URL; a firewall may be in between',
  STORE_REFUSED: 'correct user, password and database in SCRAPIFIE_DATABASE_URL, or the rules of pg_hba.conf',
};

async function checkPostgres({ shell, settings }: Patient, url: string): Promise<Finding> {
  let facts: Awaited<ReturnType<typeof shell.inspect.postgres>>;
  try {
    facts = await shell.inspect.postgres(url);
  } catch (error) {
    return failureOf(error, POSTGRES_ADVICE[isScrapifieError(error) ? error.code : '']);
  }
  const { version, majorVersion, schemaVersion, newestSchema, minReader, freeConnections, aheadMs } = facts;
  const schema = schemaVersion === 0 ? 'no schema yet' : `schema ${schemaVersion}`;
  const found = `${describePlace(settings)}, PostgreSQL ${version}, ${schema}, ${freeConnections} of ${facts.mostConnections} connections free`;
  if (minReader > newestSchema) {
    return failure(
      `SCHEMA_TOO_NEW: ${found}; this program knows schema ${newestSchema}`,
      'upgrade Scrapifie',
    );
  }
  if (majorVersion < LEAST_POSTGRES)
    return failure(found, `upgrade PostgreSQL to ${LEAST_POSTGRES} or newer`);
  if (facts.isReadOnly)
    return failure(`${found}, read-only`, 'name the primary in SCRAPIFIE_DATABASE_URL, not a replica');
  if (facts.encoding !== 'UTF8') {
    return failure(
      `${found}, encoding ${facts.encoding}`,
      'make the database with ENCODING UTF8: pages have every letter',
    );
  }
  if (!facts.canCreateTables && schemaVersion < newestSchema) {
    return failure(
      `${found}; the user may not make tables`,
      'GRANT CREATE, USAGE ON SCHEMA public TO the user, or make it the owner of the database',
    );
  }
  if (freeConnections < settings.databasePool) {
    return warning(
      found,
      `raise max_connections, or lower SCRAPIFIE_DATABASE_POOL: each process takes up to ${settings.databasePool}`,
    );
  }
  if (Math.abs(aheadMs) >= NOTICED_SKEW_MS) {
    const seconds = Math.round(aheadMs / 1_000);
    return warning(
      `${found}, its clock is ${seconds} s ahead of this machine's`,
      'set both clocks by a time server',
    );
  }
  if (schemaVersion > 0 && schemaVersion < newestSchema) {
    return warning(
      found,
      `the next start, or \`scrapifie migrate\`, brings it to schema ${newestSchema}: make a backup first`,
    );
  }
  return fine(found);
}

async function checkSqlite({ shell, settings }: Patient): Promise<Finding> {
  const file = join(settings.dataDir, DATABASE_FILE);
  if (!existsSync(file)) return fine('none yet');
  const { schemaVersion, newestSchema, ignored } = await shell.inspect.sqlite(file);
  // The next opening of the database overwrites that part of its log, so this is the last moment to keep a copy.
  if (ignored !== null) {
    return warning(ignored, `copy ${file} and ${file}-wal before the next start, and look at the disk`);
  }
  // Opening the storage would bring an older schema up to date, and a doctor changes nothing.
  if (schemaVersion > 0 && schemaVersion < newestSchema) {
    return warning(
      `${file}, schema ${schemaVersion}`,
      `the next start, or \`scrapifie migrate\`, brings it to schema ${newestSchema}: make a backup first`,
    );
  }
  const storage = await shell.openStorage({ ...settings, s3Url: undefined });
  try {
    await storage.store.check();
    await storage.blobs.check();
    const open = await storage.store.countOpenTasks();
    return fine(`${describePlace(settings)}, schema ${newestSchema}, ${open} URLs waiting`);
  } finally {
    await storage.close();
  }
}

/** What the file system of the folder means for SQLite there, which is also tried. */
async function fileSystemOf(dataDir: string): Promise<Finding> {
  const { type } = await statfs(dataDir);
  const network = NETWORK_FILE_SYSTEMS.get(type);
  const advice = 'use a disk of this machine, or PostgreSQL (SCRAPIFIE_DATABASE_URL)';
  if (network !== undefined) return failure(`${dataDir} is on ${network}, where SQLite loses data`, advice);
  if (!(await canShareLog(dataDir))) return failure(`SQLite cannot keep its log (WAL) in ${dataDir}`, advice);
  if (type === TMPFS)
    return warning(`${dataDir} is in memory`, 'name a folder on a disk: everything is lost at the next boot');
  if (type === OVERLAY) {
    return warning(
      `${dataDir} is in the layer of a container`,
      'mount a volume there: the layer goes with the container',
    );
  }
  if (type === FUSE)
    return warning(`${dataDir} is on a FUSE file system`, `if it is across a network, ${advice}`);
  return fine(dataDir);
}

/** Tries with a folder of another name: the permissions alone do not say whether a file system takes new folders. */
async function tryToMake(dataDir: string, existing: string): Promise<Finding> {
  const probe = probeIn(existing);
  try {
    await mkdir(probe, { mode: 0o700 });
    await rmdir(probe);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return failure(
      `${dataDir} cannot be made (${code})`,
      WRITE_ADVICE[code] ?? `name another folder with --data-dir: ${existing} takes no new folders`,
    );
  }
  return fine(`${dataDir} will be made`);
}

async function writeProbe(folder: string): Promise<void> {
  const file = probeIn(folder);
  try {
    await writeFile(file, 'doctor', { flush: true, mode: 0o600 });
  } finally {
    await rm(file, { force: true });
  }
}

async function canShareLog(folder: string): Promise<boolean> {
  const file = `${probeIn(folder)}.db`;
  try {
    const database = new DatabaseSync(file);
    try {
      const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
      database.exec('CREATE TABLE probe (n INTEGER); INSERT INTO probe VALUES (1)');
      return mode === 'wal';
    } finally {
      database.close();
    }
  } catch {
    return false;
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) await rm(`${file}${end}`, { force: true });
  }
}

const probeIn = (folder: string) => join(folder, `.doctor-${process.pid}`);

/** The folder itself, or the nearest one above it that is there. */
function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
