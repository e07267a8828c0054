import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type FoundBrowser, findBrowser } from '../../fetch/browser/pool/find-browser.ts';

export interface InstallOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** Runs a program to its end; null when there is none of that name. */
  readonly run?: (command: readonly string[]) => Promise<Ran | null>;
  readonly isRoot?: boolean;
}

export interface Ran {
  readonly isOk: boolean;
  /** What it said last. */
  readonly said: string;
}

const LIMIT_MS = 1_800_000;
const LOCK_WAIT_S = 900;
const KEPT_CHARS = 2_000;

/**
 * Installs a browser: Debian's package where there is apt and leave to use it, else what Playwright has for this
 * platform, into the user's cache. Throws NO_BROWSER with what was tried when none runs afterwards.
 */
export async function installBrowser(options: InstallOptions): Promise<FoundBrowser> {
  const { environment, say, run = runProgram, isRoot = process.getuid?.() === 0 } = options;
  const find = () => findBrowser({ executable: null, env: environment });
  const failures: string[] = [];
  const has = (program: string): boolean =>
    (environment.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

  async function attempt(what: string, ...commands: readonly (readonly string[])[]): Promise<boolean> {
    say(`installing ${what} (once)`);
    for (const command of commands) {
      const ran = await run(command);
      if (ran?.isOk === true) return true;
      failures.push(`${what}: ${ran?.said ?? `there is no ${command[0]}`}`);
    }
    return false;
  }

  const asRoot = isRoot ? [] : has('sudo') ? ['sudo', '-n'] : null;
  const apt =
    asRoot === null || !has('apt-get')
      ? null
      : [
          ...[...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-y', '-q'],
          ...['-o', `DPkg::Lock::Timeout=${LOCK_WAIT_S}`],
        ];
  if (apt !== null) {
    const install = [...apt, 'install', '--no-install-recommends', 'chromium'];
    // The lists of packages may be missing or old.
    const isDone =
      (await attempt('chromium with apt-get', install)) ||
      ((await run([...apt, 'update']))?.isOk === true && (await run(install))?.isOk === true);
    const found = isDone ? await find() : null;
    if (found !== null) return found;
    if (isDone) failures.push('chromium with apt-get: it is installed, but does not run');
  }

  const program = fileURLToPath(new URL('cli.js', import.meta.resolve('patchright-core/package.json')));
  await attempt('Chromium as Playwright has it', [
    ...[process.execPath, program, 'install', '--no-shell'],
    ...(isRoot && apt !== null ? ['--with-deps'] : []),
    'chromium',
  ]);
  const found = await find();
  if (found !== null) return found;
  const why = failures.map((line) => `\n  ${line}`).join('');
  throw new ScrapifieError('NO_BROWSER', `No browser could be installed. ${howToInstall()}${why}`);
}

/** What a person can do about it. */
export function howToInstall(platform: NodeJS.Platform = process.platform): string {
  const name = 'or name one that is there in SCRAPIFIE_BROWSER_PATH';
  if (platform === 'darwin') return `Install Google Chrome, or: brew install --cask chromium; ${name}.`;
  if (platform === 'win32') return `Install Google Chrome; Microsoft Edge does as well; ${name}.`;
  return `Install Chromium with the package manager of this system (Debian: apt-get install chromium), ${name}.`;
}

function runProgram([file = '', ...args]: readonly string[]): Promise<Ran | null> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
    let said = '';
    const take = (text: string) => {
      said = (said + text).slice(-KEPT_CHARS);
    };
    listen(child.stdout.setEncoding('utf8'), 'data', take);
    listen(child.stderr.setEncoding('utf8'), 'data', take);
    listenOnce(child, 'error', () => resolve(null));
    listenOnce(child, 'close', (code) => resolve({ isOk: code === 0, said: lastLines(said) }));
  });
}

function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /^(?:E:|Err|error|.*\bError\b)/i.test(line));
  return (errors.length > 0 ? errors : lines).slice(-2).join(' ').trim().slice(0, 500);
}
