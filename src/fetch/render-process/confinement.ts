import { execFile } from 'node:child_process';
import { chown, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** How render processes and their browsers are kept from the rest of the machine. */
export interface Confinement {
  /** Whom they run as; null: as the server itself. */
  readonly user: UnprivilegedUser | null;
  /** Chromium's own sandbox is on. */
  readonly isSandboxed: boolean;
  /** Weaknesses of the confinement, each with its remedy. */
  readonly weaknesses: readonly string[];
}

export interface UnprivilegedUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface ConfineOptions {
  readonly isRoot: boolean;
  /** Where a render process begins. */
  readonly entry: string;
  /** The program of the browser; null when this machine starts no browser. */
  readonly executablePath: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Text of /etc/passwd; that of this machine by default. */
  readonly passwd?: string | undefined;
}

/** A dedicated user is preferred to the one that every system has. */
const USER_NAMES = ['scrapifie', 'nobody'];
const PROBE_MS = 30_000;
const run = promisify(execFile);

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Finds out what this machine allows. Nothing that is missing is an error: it is said, and rendering goes on. */
export async function confine(options: ConfineOptions): Promise<Confinement> {
  const weaknesses: string[] = [];
  const user = options.isRoot ? await unprivilegedUser(options, weaknesses) : null;
  if (options.executablePath === null) return { user, isSandboxed: true, weaknesses };
  const isServerRoot = options.isRoot && user === null;
  const isSandboxed = !isServerRoot && (await canSandbox(options, user));
  if (!isSandboxed) {
    weaknesses.push(
      isServerRoot
        ? "Chromium's sandbox is off, because Chromium refuses to run it as root: start Scrapifie as another user"
        : "Chromium's sandbox is off, because this system does not let users make namespaces: allow them (sysctl kernel.unprivileged_userns_clone=1, or a seccomp profile that permits clone and unshare)",
    );
  }
  return { user, isSandboxed, weaknesses };
}

/** A folder that a render process may write, as its home and for the profiles of its browsers. */
export async function makeHome(user: UnprivilegedUser | null): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'scrapifie-render-'));
  if (user !== null) await chown(home, user.uid, user.gid);
  return home;
}

export const removeHome = (home: string): Promise<void> =>
  rm(home, { recursive: true, force: true, maxRetries: 3 });

async function unprivilegedUser(
  options: ConfineOptions,
  weaknesses: string[],
): Promise<UnprivilegedUser | null> {
  const passwd = options.passwd ?? (await readFile('/etc/passwd', 'utf8').catch(() => ''));
  const user = USER_NAMES.map((name) => userNamed(name, passwd)).find((found) => found !== null) ?? null;
  if (user === null) {
    weaknesses.push(
      'browsers run as root, because there is no user for them: make one (useradd --system scrapifie), or start Scrapifie as another user',
    );
    return null;
  }
  const unreadable = await whatIsUnreadable(options, user);
  if (unreadable === null) return user;
  weaknesses.push(
    `browsers run as root, because the user ${user.name} cannot use ${unreadable}: let others read it, or start Scrapifie as another user`,
  );
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

/** The first of the files that the process needs which its user cannot use; null when it can use all. */
async function whatIsUnreadable(
  { entry, executablePath, env }: ConfineOptions,
  { uid, gid }: UnprivilegedUser,
): Promise<string | null> {
  const library = fileURLToPath(import.meta.resolve('patchright-core/package.json'));
  const needed = [entry, library, ...(executablePath === null ? [] : [executablePath])];
  const home = await makeHome({ name: '', uid, gid });
  const script = `const { accessSync, constants } = require('node:fs');
    for (const [index, path] of process.argv.slice(1).entries()) {
      try { accessSync(path, index === 0 ? constants.W_OK : index === 3 ? constants.X_OK : constants.R_OK); }
      catch { process.stdout.write(path); break; }
    }`;
  try {
    const { stdout } = await run(process.execPath, ['--eval', script, '--', home, ...needed], {
      ...{ uid, gid, env: { ...env, HOME: home }, cwd: home, timeout: PROBE_MS },
    });
    return stdout === '' ? null : stdout;
  } catch {
    return dirname(process.execPath);
  } finally {
    await removeHome(home);
  }
}

/**
 * Chromium makes namespaces of its own, or has a helper with root's rights make them. Chromium itself is not asked: a
 * script that starts it may turn the sandbox off where it would fail.
 */
async function canSandbox(
  { executablePath, env }: ConfineOptions,
  user: UnprivilegedUser | null,
): Promise<boolean> {
  if (process.platform !== 'linux' || executablePath === null) return true;
  const as = user === null ? {} : { uid: user.uid, gid: user.gid };
  try {
    await run('unshare', ['--user', '--map-root-user', 'true'], { ...as, env, cwd: '/', timeout: PROBE_MS });
    return true;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return (isMissing && (await areNamespacesAllowed())) || hasSandboxHelper(executablePath);
  }
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
