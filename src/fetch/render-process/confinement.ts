import { execFile } from 'node:child_process';
import { chown, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** How render processes and their browsers are kept from the rest of the machine. */
export interface Confinement {
  /** Whom they run as; null: as the server itself. */
  readonly user: UnprivilegedUser | null;
  /** Chromium's own sandbox is on. */
  readonly isSandboxed: boolean;
  /** What stands before the command of a render process: namespaces in which the secrets of the server are not there. */
  readonly prefix: readonly string[];
  readonly weaknesses: readonly Weakness[];
}

/** Something that the confinement lacks, and what to do about it. */
export interface Weakness {
  readonly what: string;
  readonly remedy: string;
  /** A hole in a browser would give a page the rights of root, or of the server: rendering needs consent. */
  readonly isGrave: boolean;
}

interface UnprivilegedUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

interface ConfineOptions {
  readonly isRoot: boolean;
  /** The program of the browser; null when this machine starts no browser. */
  readonly executablePath: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Where secrets of the server are: real paths. */
  readonly secretPlaces: readonly string[];
  /** Where the program of a render process is. */
  readonly programFolder: string;
  /** Text of /etc/passwd; that of this machine by default. */
  readonly passwd?: string | undefined;
}

/** A dedicated user is preferred to the one that every system has. */
const USER_NAMES = ['scrapifie', 'nobody'];
const PROBE_MS = 30_000;
const run = promisify(execFile);

/**
 * Covers each place that is named before `--`: a folder by an empty one, a file by one without content. Then runs the command
 * behind it without any capability, and without a way to get one.
 */
const COVER = `set -eu
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k,mode=555 tmpfs "$1"
  else mount --bind /dev/null "$1"; fi
  shift
done
shift
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs -- "$@"`;

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Finds out what this machine allows. What is missing is no error here: it is a weakness. */
export async function confine(options: ConfineOptions): Promise<Confinement> {
  const weaknesses: Weakness[] = [];
  if (options.isRoot) {
    const user = await unprivilegedUser(options, weaknesses);
    const isSandboxed = user !== null && (await canSandbox(options, user, weaknesses));
    return { user, isSandboxed: options.executablePath === null || isSandboxed, prefix: [], weaknesses };
  }
  const prefix = await workingPrefix(options, weaknesses);
  const isSandboxed = prefix.length > 0 || (await canSandbox(options, null, weaknesses));
  return { user: null, isSandboxed: options.executablePath === null || isSandboxed, prefix, weaknesses };
}

/** Why pages are not rendered without consent; null when browsers are confined well enough. */
export function refusalOf({ weaknesses }: Confinement): ScrapifieError | null {
  const grave = weaknesses.filter(({ isGrave }) => isGrave);
  if (grave.length === 0) return null;
  const what = grave.map((weakness) => weakness.what).join(', and ');
  const remedies = grave.map(({ remedy }) => remedy).join('; ');
  return new ScrapifieError(
    'BROWSER_UNCONFINED',
    `Pages are not rendered here: ${what}. To change that: ${remedies}. To render all the same, set SCRAPIFIE_UNCONFINED_BROWSERS=true.`,
  );
}

/** A folder that a render process may write, as its home and for the profiles of its browsers. */
export async function makeHome(user: UnprivilegedUser | null): Promise<string> {
  const home = await mkdtemp(join(user === null ? tmpdir() : await openTmpdir(), 'scrapifie-render-'));
  if (user !== null) await chown(home, user.uid, user.gid);
  return home;
}

/** The folder for temporary files, or the usual one where other users cannot enter that of root. */
async function openTmpdir(): Promise<string> {
  const folders = withFoldersAbove(await realpath(tmpdir()));
  const modes = await Promise.all(folders.map(async (folder) => (await stat(folder)).mode));
  return modes.every((mode) => (mode & ENTER_OF_OTHERS) !== 0) ? tmpdir() : '/tmp';
}

const ENTER_OF_OTHERS = 0o001;

function withFoldersAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...withFoldersAbove(above)];
}

export const removeHome = (home: string): Promise<void> =>
  rm(home, { recursive: true, force: true, maxRetries: 3 });

async function unprivilegedUser(
  options: ConfineOptions,
  weaknesses: Weakness[],
): Promise<UnprivilegedUser | null> {
  const passwd = options.passwd ?? (await readFile('/etc/passwd', 'utf8').catch(() => ''));
  const user = USER_NAMES.map((name) => userNamed(name, passwd)).find((found) => found !== null) ?? null;
  if (user === null) {
    const remedy = 'make one (useradd --system scrapifie), or start Scrapifie as another user';
    weaknesses.push({
      what: 'browsers would run as root, because there is no user for them',
      remedy,
      isGrave: true,
    });
    return null;
  }
  const unusable = await whatIsUnusable(options, user);
  if (unusable === null) return user;
  weaknesses.push({
    what: `browsers would run as root, because the user ${user.name} cannot use ${unusable}`,
    remedy: `put the browser where others can run it (apt-get install chromium), and name it in SCRAPIFIE_BROWSER_PATH`,
    isGrave: true,
  });
  return null;
}

function userNamed(name: string, passwd: string): UnprivilegedUser | null {
  const [, , uid, gid] =
    passwd
      .split('\n')
      .map((line) => line.split(':'))
      .find(([own]) => own === name) ?? [];
  const ids = { uid: Number(uid), gid: Number(gid) };
  return ids.uid > 0 && ids.gid > 0 ? { name, ...ids } : null;
}

/**
 * What of the things that are not part of the program (its home, the browser) the user cannot use; null when it can use all.
 * The program itself is loaded before its process becomes that user.
 */
async function whatIsUnusable(
  { executablePath, env }: ConfineOptions,
  { uid, gid }: UnprivilegedUser,
): Promise<string | null> {
  const home = await makeHome({ name: '', uid, gid });
  const script = `const { accessSync, constants } = require('node:fs');
    const [home, ...programs] = process.argv.slice(1);
    process.setgroups([${gid}]); process.setgid(${gid}); process.setuid(${uid});
    for (const path of [home, ...programs]) {
      try { accessSync(path, path === home ? constants.W_OK : constants.X_OK); }
      catch { process.stdout.write(path); break; }
    }`;
  const programs = executablePath === null ? [] : [executablePath];
  try {
    const { stdout } = await run(process.execPath, ['--eval', script, '--', home, ...programs], {
      ...{ env: { ...env, HOME: home }, cwd: home, timeout: PROBE_MS },
    });
    return stdout === '' ? null : stdout;
  } catch {
    return 'its rights, because a process of root cannot become that user here';
  } finally {
    await removeHome(home);
  }
}

/**
 * The namespaces for processes of the server's own user, when this system lets users make them, and lets Chromium make its
 * own in them. Empty where it does not.
 */
async function workingPrefix(
  { executablePath, env, secretPlaces, programFolder }: ConfineOptions,
  weaknesses: Weakness[],
): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const browser = executablePath === null ? [] : [await realpath(executablePath).catch(() => executablePath)];
  const inUse = [programFolder, process.execPath, await realpath(tmpdir()), ...browser];
  const places = dividePlaces(secretPlaces, inUse);
  if (places.needed.length > 0) {
    weaknesses.push({
      what: `browsers can read ${places.needed.join(', ')}, because what they need lies in there`,
      remedy: 'put data and secrets into folders of their own',
      isGrave: false,
    });
  }
  const prefix = namespacePrefix(places.covered);
  const [command = '', ...args] = [...prefix, ...TRY_NAMESPACES];
  try {
    await run(command, args, { env, cwd: '/', timeout: PROBE_MS });
    return prefix;
  } catch {
    weaknesses.push({
      what: 'browsers can read what the server can, its data folder too',
      remedy:
        'allow namespaces and mounts in them (seccomp and AppArmor profiles of containers: docs/browsers.md), or start Scrapifie as root with a user scrapifie',
      isGrave: false,
    });
    return [];
  }
}

const TRY_NAMESPACES = ['unshare', '--user', '--map-root-user', 'true'];

/**
 * Chromium makes namespaces of its own, or has a helper with root's rights make them. Chromium itself is not asked: a
 * script that starts it may turn the sandbox off where it would fail.
 */
async function canSandbox(
  { executablePath, env }: ConfineOptions,
  user: UnprivilegedUser | null,
  weaknesses: Weakness[],
): Promise<boolean> {
  if (process.platform !== 'linux' || executablePath === null) return true;
  const as = user === null ? {} : { uid: user.uid, gid: user.gid };
  const [command = '', ...args] = TRY_NAMESPACES;
  try {
    await run(command, args, { ...as, env, cwd: '/', timeout: PROBE_MS });
    return true;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if ((isMissing && (await areNamespacesAllowed())) || (await hasSandboxHelper(executablePath)))
      return true;
  }
  weaknesses.push({
    what: "Chromium's sandbox cannot be used, because this system does not let users make namespaces",
    remedy:
      'allow them (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0 or a browser with an AppArmor profile, in a container the seccomp profile deploy/docker/seccomp.json)',
    isGrave: true,
  });
  return false;
}

async function areNamespacesAllowed(): Promise<boolean> {
  const [most, clone, restricted] = await Promise.all(
    [
      'user/max_user_namespaces',
      'kernel/unprivileged_userns_clone',
      'kernel/apparmor_restrict_unprivileged_userns',
    ].map((name) => readFile(`/proc/sys/${name}`, 'latin1').then(Number, () => null)),
  );
  return (most ?? 0) > 0 && clone !== 0 && restricted !== 1;
}

const SET_USER_ID = 0o4000;

async function hasSandboxHelper(executablePath: string): Promise<boolean> {
  const program = await realpath(executablePath).catch(() => executablePath);
  const helper = await stat(join(dirname(program), 'chrome-sandbox')).catch(() => null);
  return helper !== null && helper.uid === 0 && (helper.mode & SET_USER_ID) !== 0;
}

/**
 * What stands before a command that is to run with the same user in a user namespace and a mount namespace of its own.
 * Processes in there see none of the places, and cannot uncover them: the mounts of a namespace are locked for those made
 * below it. They cannot read memory or environment of processes outside either, because the kernel asks for rights in the
 * user namespace of the process that is read. The process keeps its id and what it has open.
 */
export const namespacePrefix = (places: readonly string[]): readonly string[] => [
  ...['unshare', '--user', '--map-current-user', '--keep-caps', '--mount', '--'],
  ...['sh', '-c', COVER, 'sh', ...places, '--'],
];

/** The places that can be covered, and those that hold something that the command needs. */
export function dividePlaces(
  places: readonly string[],
  needed: readonly string[],
): { readonly covered: readonly string[]; readonly needed: readonly string[] } {
  const isNeeded = (place: string) =>
    needed.some((path) => path === place || path.startsWith(place.endsWith(sep) ? place : `${place}${sep}`));
  return { covered: places.filter((place) => !isNeeded(place)), needed: places.filter(isNeeded) };
}

/** The user that a render process becomes, as the argument of its program that names it. */
export const userArgument = ({ uid, gid }: { readonly uid: number; readonly gid: number }): string =>
  `${uid}:${gid}`;

/**
 * Makes this process of root one of another user, for good: the user of the argument. A render process begins as root, so
 * that its program can lie in a folder that only root can enter; by now all of it is loaded, and nothing of a page has
 * come near it. Throws when a right of root is left.
 */
export function becomeUser(argument: string): void {
  const [, uid, gid] = /^([1-9]\d*):([1-9]\d*)$/.exec(argument) ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`no user: ${argument}`);
  const { setgroups, setgid, setuid } = process;
  if (setgroups === undefined || setgid === undefined || setuid === undefined)
    throw new Error('this system has no users');
  setgroups([Number(gid)]);
  setgid(Number(gid));
  // This changes all three user ids of the process, and so the kernel takes the capabilities of root from it.
  setuid(Number(uid));
  if (isRootAgain(setuid)) throw new Error('the process could become root again');
}

function isRootAgain(setuid: (id: number) => void): boolean {
  try {
    setuid(0);
    return true;
  } catch {
    return false;
  }
}
