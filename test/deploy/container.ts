import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A process in a root folder of its own, started as a container engine starts one. */
export interface Container {
  /** Id of the first process, as this machine counts. */
  readonly pid: number;
  readonly ended: Promise<number | null>;
  /** Both of its outputs so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Ends it at once; does nothing when it has ended. */
  kill(): Promise<void>;
}

export interface ContainerOptions {
  /** A folder for what is mounted. */
  readonly dir: string;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** `uid:gid`; null runs it as root, as a step of a build. */
  readonly user: string | null;
  readonly binds: readonly { readonly from: string; readonly to: string; readonly isWritable?: boolean }[];
}

const SCRIPT = fileURLToPath(new URL('container.sh', import.meta.url));
/** What base images set. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PROGRAMS = ['unshare', 'setpriv', 'pivot_root', 'mount', 'nsenter', 'tini', 'chromium'];

/** Why this machine cannot do it; null when it can. */
export function whyNoContainers(): string | null {
  if (process.platform !== 'linux') return 'mount namespaces are a part of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount file systems';
  const missing = PROGRAMS.filter((program) => !isInstalled(program));
  if (missing.length > 0) return `these programs are missing: ${missing.join(', ')}`;
  try {
    execFileSync('unshare', ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
      stdio: 'pipe',
    });
    return null;
  } catch {
    return 'this machine does not allow mount namespaces';
  }
}

export async function startContainer(options: ContainerOptions): Promise<Container> {
  const { dir, command, variables, workdir, user, binds } = options;
  mkdirSync(dir, { recursive: true });
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', SCRIPT, ...command], {
    env: {
      PATH,
      ...variables,
      CONTAINER_ROOT: mkdtempSync(join(dir, 'root-')),
      CONTAINER_NODE: process.execPath,
      CONTAINER_BINDS: binds
        .map(({ from, to, isWritable }) => `${from}:${to}${isWritable === true ? ':rw' : ''}`)
        .join(' '),
      CONTAINER_USER: user ?? '',
      CONTAINER_WORKDIR: workdir,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  await once(child, 'spawn');
  return {
    get pid() {
      return firstProcess(child);
    },
    ended,
    output: () => output,
    // The first process of a namespace, to which `docker stop` sends its signal.
    signal: (name) => void process.kill(firstProcess(child), name),
    async kill() {
      // With `unshare` ends its child, and with that all of the namespace.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** `unshare` waits; its only child is the first process of the namespace. */
function firstProcess({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'pipe', env: { PATH } });
    return true;
  } catch {
    return false;
  }
}
