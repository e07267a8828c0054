import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../core/config/private-files.ts';
import { shownSettings } from '../../core/config/secrets.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { AuditEntry, AuditStore } from '../../core/ports/audit-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { cannotWrite } from '../output/screen.ts';

/** Files of a data folder with what a start of the server made for its operator: a key, and a link that signs in. */
type StartSecretFile = 'api-key' | 'sign-in-link';

/** Where a secret of a start is told. */
export interface ToldSecret {
  /** The file that has it; null: it may be printed. */
  readonly file: string | null;
  readonly secret: string;
}

/**
 * Keeps a secret that a start of the server has made where only its operator finds it. A terminal shows it to the person
 * before it. Everything else that takes the standard output of a server is a log (of a container engine, of systemd, a
 * file), which others read and which is kept and sent elsewhere: then the secret goes into a file of the data folder that
 * only its owner can read, and the log names the file. Throws DATA_DIR_UNUSABLE or DISK_FULL when that cannot be written.
 */
export async function tellSecret(
  name: StartSecretFile,
  secret: string,
  where: { readonly isTerminal: boolean; readonly dataDir: string; readonly logger: Logger },
): Promise<ToldSecret> {
  if (where.isTerminal) return { file: null, secret };
  const file = join(where.dataDir, name);
  try {
    // When everything has other places, nothing else may have made the folder.
    await mkdir(where.dataDir, { recursive: true, mode: PRIVATE_FOLDER });
    // Written beside it: a file of the same name may have other rights, or be a link.
    const part = `${file}.part`;
    await writeFile(part, `${secret}\n`, { mode: PRIVATE_FILE });
    await chmod(part, PRIVATE_FILE);
    await rename(part, file);
  } catch (error) {
    throw cannotWrite(file, error);
  }
  const what = { 'api-key': 'the API key of the first start', 'sign-in-link': 'a link that signs in once' }[
    name
  ];
  where.logger.info({ file }, `${what} was written to a file that only its owner can read`);
  return { file, secret };
}

type HolderStore = Pick<Store, 'listAccounts' | 'listKeys' | 'listWebhooks'>;

/** More accounts than this are not looked through: the warning then says that there are more. */
const MOST_COUNTED = 1_000;

/**
 * Warns of keys and webhooks in a data folder that was found where the server was started and that holds a database which
 * this user's program did not make: its maker can use them.
 */
export async function warnOfFoundFolder(store: HolderStore, folder: string, logger: Logger): Promise<void> {
  let [keys, webhooks] = [0, 0];
  const { items, nextCursor } = await store.listAccounts({ limit: MOST_COUNTED });
  for (const { id } of items) {
    keys += (await store.listKeys(id)).filter(({ revokedAt }) => revokedAt === null).length;
    webhooks += (await store.listWebhooks({ accountId: id, limit: MOST_COUNTED })).items.length;
  }
  logger.warn(
    { folder, keys, webhooks, ...(nextCursor === null ? {} : { isMore: true }) },
    'this data folder was found in the working folder, and this user has not opened it before: its keys open the server, and its webhooks are told of jobs; name another folder with --data-dir if it is not yours',
  );
}

/**
 * Writes to the audit log that a server starts, with its address and its settings, and what has changed in them since the last start of
 * the same role on the same machine. Secrets are not shown, so that a secret that was replaced by another is no change
 * here; a secret that was added or taken away is.
 */
export async function recordStart(
  store: Pick<AuditStore, 'audit' | 'listAudit'>,
  settings: Settings,
  { version, origin, at }: Start,
  machine = hostname(),
): Promise<void> {
  const target = `${settings.role}@${machine}`;
  const common = { at, actor: 'server', target };
  const after = shownSettings(settings);
  const { items } = await store.listAudit({ action: 'server.start', target, limit: 1 });
  const before = items[0]?.details.settings as typeof after | undefined;
  const entries: AuditEntry[] = [
    { ...common, action: 'server.start', details: { version, origin, settings: after } },
  ];
  const changed = before === undefined ? {} : changesOf(before, after);
  if (Object.keys(changed).length > 0) {
    entries.push({ ...common, action: 'settings.change', details: { changed } });
  }
  await store.audit(entries);
}

/** What the audit log has of a server that is about to work. */
interface Start {
  readonly version: string;
  /** The address under which this machine reaches it. */
  readonly origin: string;
  readonly at: number;
}

type Shown = Readonly<Record<string, unknown>>;

/** Null stands for the default. */
function changesOf(before: Shown, after: Shown): Record<string, { from: unknown; to: unknown }> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  );
}
