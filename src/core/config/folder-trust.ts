import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder, PRIVATE_FILE } from './private-files.ts';

/** The files that commands read from the folder they are started in, without being told to. */
export const FOLDER_FILES = ['.env', 'scrapifie.yaml'] as const;

/** Why what a file says is not followed. */
export type Distrust = 'new' | 'changed' | 'of another user' | 'open to all';

export interface FolderFile {
  readonly path: string;
  readonly text: string;
  /** Null when the file is trusted, with this very content. */
  readonly distrust: Distrust | null;
}

/** One file that was trusted, and whether it still has the content that was. */
export interface TrustedFile {
  readonly path: string;
  readonly state: 'trusted' | 'changed' | 'gone';
}

/**
 * The folder of the program itself: an account that can change it has the program run any code, so trust adds
 * nothing.
 */
const PROGRAM_FOLDER = fileURLToPath(new URL('../../..', import.meta.url));
const FOR_ALL_TO_WRITE = 0o002;
/** A file of settings is far smaller. What a stranger's folder has under its name may be a link to a device without an end. */
const MOST_BYTES = 1_048_576;
const REASONS: Readonly<Record<Distrust, string>> = {
  new: 'is not trusted yet',
  changed: 'has changed since it was trusted',
  'of another user': 'belongs to another user',
  'open to all': 'can be changed by every user of this machine (chmod o-w ends that)',
};

/**
 * Reads a file of the folder that a command was started in. It is trusted when the user has trusted it with this content,
 * and in the folder of the program itself; never when another user can change it. Returns null when there is none; throws
 * what keeps it from being read.
 */
export function readFolderFile(
  folder: string,
  name: string,
  environment: NodeJS.ProcessEnv,
): FolderFile | null {
  let descriptor: number;
  try {
    // To open a named pipe would otherwise wait for a program that writes into it.
    descriptor = openSync(join(folder, name), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile())
      throw unreadable(stats.isDirectory() ? 'EISDIR' : 'ENOTFILE', 'is not a regular file');
    if (stats.size > MOST_BYTES) throw unreadable('EFBIG', `is larger than ${MOST_BYTES} bytes`);
    const text = readFileSync(descriptor, 'utf8');
    const { uid, mode } = stats;
    const place = realpathSync(folder);
    const isOfProgram = place === realpathSync(PROGRAM_FOLDER);
    const path = join(place, name);
    const distrust = isOthers(uid, isOfProgram)
      ? 'of another user'
      : (mode & FOR_ALL_TO_WRITE) !== 0
        ? 'open to all'
        : isOfProgram
          ? null
          : distrustOf(readTrust(environment)[path], hashOf(text));
    return { path, text, distrust };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Trusts the files of the folder that have these names, as they are now. Returns what it did with each that is there: a file
 * that another user can change is not trusted. Throws when the list of trusted files cannot be written.
 */
export function trustFolder(
  folder: string,
  environment: NodeJS.ProcessEnv,
  names: readonly string[] = FOLDER_FILES,
): readonly FolderFile[] {
  const files = names.flatMap((name) => readFolderFile(folder, name, environment) ?? []);
  const trusted = files.map((file): FolderFile => {
    const canTrust = file.distrust === 'new' || file.distrust === 'changed';
    return canTrust ? { ...file, distrust: null } : file;
  });
  const hashes = trusted.flatMap(({ path, text, distrust }) =>
    distrust === null ? [[path, hashOf(text)] as const] : [],
  );
  if (hashes.length > 0)
    writeTrust(environment, { ...readTrust(environment), ...Object.fromEntries(hashes) });
  return trusted;
}

/** Ends the trust in the files of a folder, which need not exist any more. Returns their paths. */
export function revokeTrust(folder: string, environment: NodeJS.ProcessEnv): readonly string[] {
  const known = readTrust(environment);
  const place =
    statSync(folder, { throwIfNoEntry: false }) === undefined ? resolve(folder) : realpathSync(folder);
  const paths = Object.keys(known).filter((path) => FOLDER_FILES.some((name) => path === join(place, name)));
  const rest = Object.entries(known).filter(([path]) => !paths.includes(path));
  if (paths.length > 0) writeTrust(environment, Object.fromEntries(rest));
  return paths;
}

/** Every file that was trusted, by path. */
export function trustedFiles(environment: NodeJS.ProcessEnv): readonly TrustedFile[] {
  return Object.entries(readTrust(environment))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, hash]) => {
      const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
      const isSame = isThere && hashOf(readFileSync(path, 'utf8')) === hash;
      return { path, state: isSame ? 'trusted' : isThere ? 'changed' : 'gone' };
    });
}

const unreadable = (code: string, problem: string): Error =>
  Object.assign(new Error(`The file ${problem}.`), { code });

/** Why a file is not followed, with its path. */
export const whyDistrusted = (path: string, distrust: Distrust): string =>
  `${path.replace(/\p{Cc}/gu, '?')} ${REASONS[distrust]}`;

/**
 * Tells whether another user made the folder. Root does not count as another, nor does the owner of the program for a folder
 * directly within the program's own.
 */
export function isFolderOfOthers(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return false;
  const isOfProgram = realpathSync(join(path, '..')) === realpathSync(PROGRAM_FOLDER);
  return isOthers(stats.uid, isOfProgram);
}

/**
 * Notes that this user's program opens the data folder. False when it had not before: the folder is new to this user, or
 * another one is in its place. A list that cannot be written is no error: the folder is new the next time as well.
 */
export function noteDataFolder(path: string, environment: NodeJS.ProcessEnv): boolean {
  const list = join(trustPath(environment), '..', 'data-folders.json');
  const { dev, ino } = statSync(path);
  const known = readHashes(list);
  const [place, hash] = [realpathSync(path), hashOf(`${dev}:${ino}`)];
  if (known[place] === hash) return true;
  try {
    writeHashes(list, { ...known, [place]: hash });
  } catch {
    // The server works without the list; it only warns of this folder again.
  }
  return false;
}

/** Where the list of trusted files is: in the folder of the user's settings, as XDG has it. */
export function trustPath(environment: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: named = '', HOME: home = '' } = environment;
  const settings = isAbsolute(named) ? named : join(home === '' ? homedir() : home, '.config');
  return join(settings, 'scrapifie', 'trusted.json');
}

type Hashes = Readonly<Record<string, string>>;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const distrustOf = (known: string | undefined, hash: string): Distrust | null =>
  known === hash ? null : known === undefined ? 'new' : 'changed';

/** Root may change every file anyway, and the owner of the program what it does. */
function isOthers(uid: number, isOfProgram: boolean): boolean {
  const self = process.getuid?.();
  if (self === undefined || uid === self || uid === 0) return false;
  return !isOfProgram || uid !== statSync(PROGRAM_FOLDER).uid;
}

const readTrust = (environment: NodeJS.ProcessEnv): Hashes => readHashes(trustPath(environment));

const writeTrust = (environment: NodeJS.ProcessEnv, files: Hashes): void =>
  writeHashes(trustPath(environment), files);

/** A list that is missing, not to be read or that others can write holds nothing: then no file is trusted. */
function readHashes(path: string): Hashes {
  try {
    const { uid, mode } = statSync(path);
    if (isOthers(uid, false) || (mode & FOR_ALL_TO_WRITE) !== 0) return {};
    const { files } = JSON.parse(readFileSync(path, 'utf8')) as { files?: unknown };
    return typeof files === 'object' && files !== null ? (files as Hashes) : {};
  } catch {
    return {};
  }
}

/** Whole or not at all, since commands read it at any time. */
function writeHashes(path: string, files: Hashes): void {
  makeFolder(join(path, '..'));
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ files }, null, 2)}\n`, { mode: PRIVATE_FILE, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
