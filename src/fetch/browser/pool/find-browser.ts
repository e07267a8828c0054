import { execFile } from 'node:child_process';
import { access, constants, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { promisify } from 'node:util';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { defined } from '../../../lib/defined.ts';

interface FindBrowserOptions {
  /** Where the operator says it is; nothing else is then looked at. */
  readonly executable: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform | undefined;
  readonly versionTimeoutMs?: number | undefined;
}

export interface FoundBrowser {
  readonly path: string;
  /** Version of the program, such as `156.0.7300.10`. */
  readonly version: string;
  readonly from: 'setting' | 'path' | 'usual place' | 'playwright';
}

const PROGRAM_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'microsoft-edge-stable',
  'msedge',
  'brave-browser',
];
const MAC_APPS = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser'];
const WINDOWS_APPS = [
  'Google\\Chrome\\Application\\chrome.exe',
  'Chromium\\Application\\chrome.exe',
  'Microsoft\\Edge\\Application\\msedge.exe',
];
const LINUX_PLACES = [
  '/usr/bin/chromium',
  '/usr/lib/chromium/chromium',
  '/usr/lib/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
  '/opt/microsoft/msedge/msedge',
  '/snap/bin/chromium',
  '/var/lib/flatpak/exports/bin/org.chromium.Chromium',
];

const run = promisify(execFile);

/**
 * Finds a Chromium, Chrome or Edge that runs. Null when there is none; INVALID_SETTINGS when the one that the operator
 * named does not run, since quietly taking another would be worse.
 */
export async function findBrowser(options: FindBrowserOptions): Promise<FoundBrowser | null> {
  const { executable, env, platform = process.platform, versionTimeoutMs = 5_000 } = options;
  const versionFor = (path: string) => versionOf(path, platform, versionTimeoutMs, env);
  if (executable !== null && executable !== '') {
    const version = await versionFor(executable);
    if (version !== null) return { path: executable, version, from: 'setting' };
    throw new ScrapifieError('INVALID_SETTINGS', `No browser runs at ${executable}`);
  }
  const places: readonly (readonly [FoundBrowser['from'], readonly string[]])[] = [
    ['path', onPath(env, platform)],
    ['usual place', usualPlaces(env, platform)],
    ['playwright', await downloads(env, platform)],
  ];
  for (const [from, paths] of places) {
    for (const path of new Set(paths)) {
      const version = (await isExecutable(path)) ? await versionFor(path) : null;
      if (version !== null) return { path, version, from };
    }
  }
  return null;
}

function onPath(env: FindBrowserOptions['env'], platform: NodeJS.Platform): string[] {
  const isWindows = platform === 'win32';
  const { delimiter, join, isAbsolute } = isWindows ? win32 : posix;
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return PROGRAM_NAMES.flatMap((name) =>
    folders.map((folder) => join(folder, isWindows ? `${name}.exe` : name)),
  );
}

function usualPlaces(env: FindBrowserOptions['env'], platform: NodeJS.Platform): string[] {
  if (platform === 'darwin') {
    const roots = ['/Applications', ...(env.HOME === undefined ? [] : [`${env.HOME}/Applications`])];
    return MAC_APPS.flatMap((app) => roots.map((root) => `${root}/${app}.app/Contents/MacOS/${app}`));
  }
  if (platform === 'win32') {
    const roots = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter(
      (root) => root !== undefined,
    );
    return WINDOWS_APPS.flatMap((app) => roots.map((root) => win32.join(root, app)));
  }
  return LINUX_PLACES;
}

/** What Playwright has downloaded, the newest first. */
async function downloads(env: FindBrowserOptions['env'], platform: NodeJS.Platform): Promise<string[]> {
  const folder = env.PLAYWRIGHT_BROWSERS_PATH ?? downloadFolder(env, platform);
  if (folder === null) return [];
  const { join } = platform === 'win32' ? win32 : posix;
  const names = await readdir(folder).catch(() => []);
  const revisions = names
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)));
  const inside = DOWNLOADED[platform] ?? DOWNLOADED.linux ?? [];
  return revisions.flatMap((revision) => inside.map((path) => join(folder, revision, path)));
}

const MAC_PROGRAMS = [
  'Chromium.app/Contents/MacOS/Chromium',
  'Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
];
const DOWNLOADED: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['chrome-linux64/chrome', 'chrome-linux/chrome', 'chrome-linux-arm64/chrome'],
  darwin: ['chrome-mac', 'chrome-mac-arm64', 'chrome-mac-x64'].flatMap((folder) =>
    MAC_PROGRAMS.map((program) => `${folder}/${program}`),
  ),
  win32: ['chrome-win64\\chrome.exe', 'chrome-win\\chrome.exe'],
};

function downloadFolder(env: FindBrowserOptions['env'], platform: NodeJS.Platform): string | null {
  if (platform === 'win32') {
    return env.LOCALAPPDATA === undefined ? null : win32.join(env.LOCALAPPDATA, 'ms-playwright');
  }
  if (env.HOME === undefined) return null;
  if (platform === 'darwin') return `${env.HOME}/Library/Caches/ms-playwright`;
  return `${env.XDG_CACHE_HOME ?? `${env.HOME}/.cache`}/ms-playwright`;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Null when it does not run, says nothing like a version, or takes too long. */
async function versionOf(
  path: string,
  platform: NodeJS.Platform,
  timeoutMs: number,
  { PATH, HOME }: FindBrowserOptions['env'],
): Promise<string | null> {
  if (platform === 'win32') return versionBeside(path);
  try {
    // Without the rest of the environment, which may hold secrets.
    const seen = defined({ PATH, HOME });
    const how = { timeout: timeoutMs, killSignal: 'SIGKILL' as const, env: seen };
    const { stdout } = await run(path, ['--version'], how);
    return /(\d+(?:\.\d+){1,3})/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** On Windows the program opens a window whatever it is asked; its installer puts a folder named after the version beside it. */
async function versionBeside(path: string): Promise<string | null> {
  const names = await readdir(win32.dirname(path)).catch(() => []);
  return names.filter((name) => /^\d+(?:\.\d+){3}$/.test(name)).at(-1) ?? null;
}

/** The files that a running browser was started from, with what tells each from another of the same name. */
export interface ProgramMark {
  readonly files: ReadonlyMap<string, string>;
}

const DELETED = ' (deleted)';

/**
 * What a browser runs: the file that was started, and the program behind it where the first is a script that starts
 * another (as on Debian). The second is known on Linux alone.
 */
export async function markProgram(executablePath: string, pid: number | null): Promise<ProgramMark> {
  const program = pid === null ? null : await readlink(`/proc/${pid}/exe`).catch(() => null);
  const started = await realpath(executablePath).catch(() => executablePath);
  const files = new Map([[started, (await signatureOf(started)) ?? '']]);
  if (program?.endsWith(DELETED) === true) files.set(program.slice(0, -DELETED.length), '');
  else if (program !== null) files.set(program, (await signatureOf(program)) ?? '');
  return { files };
}

type ProgramState =
  | { readonly kind: 'same' }
  | { readonly kind: 'missing'; readonly path: string }
  /** `signature` is the same as long as the new files are: one that still changes is being written. */
  | { readonly kind: 'changed'; readonly path: string; readonly signature: string };

export async function programState({ files }: ProgramMark): Promise<ProgramState> {
  let changed: string | null = null;
  const signatures: string[] = [];
  for (const [path, marked] of files) {
    const found = await signatureOf(path);
    if (found === null) return { kind: 'missing', path };
    signatures.push(found);
    if (found !== marked) changed ??= path;
  }
  if (changed === null) return { kind: 'same' };
  return { kind: 'changed', path: changed, signature: signatures.join(' ') };
}

async function signatureOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeMs } = await stat(path);
    return `${dev}:${ino}:${size}:${mtimeMs}`;
  } catch {
    return null;
  }
}
