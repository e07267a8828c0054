import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 5_000;
const PAGE_BYTES = 4_096;

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly isZombie: boolean;
  /** Resident bytes of its own. */
  readonly ownBytes: number;
  /** Resident bytes of files and memory that others may map too: the browser's program above all. */
  readonly sharedBytes: number;
}

/**
 * Memory of a browser with all its processes; null where that cannot be known. What the processes share is counted
 * once.
 */
export async function treeBytes(root: number): Promise<number | null> {
  const tree = treeOf(root, await listProcesses());
  if (tree.length === 0) return null;
  let own = 0;
  let shared = 0;
  for (const entry of tree) {
    own += entry.ownBytes;
    shared = Math.max(shared, entry.sharedBytes);
  }
  return own + shared;
}

/** The memory of one process of a browser. */
export type ProcessMemory = Pick<ProcessEntry, 'pid' | 'ownBytes' | 'sharedBytes'>;

/**
 * The memory of a browser's processes, for a watch that asks several times per second. On Linux it reads the parent of
 * each process of the machine once, and the memory of the browser's own ones alone.
 */
export class TreeMemory {
  readonly #root: number;
  /** Bounded, like the outsiders, by the processes that run. */
  readonly #members: Set<number>;
  readonly #outsiders = new Set<number>();

  constructor(root: number) {
    this.#root = root;
    this.#members = new Set([root]);
  }

  async read(): Promise<readonly ProcessMemory[]> {
    if (process.platform !== 'linux') return treeOf(this.#root, await listProcesses());
    this.#findMembers();
    return [...this.#members].flatMap((pid) => {
      const memory = memoryOf(pid);
      return memory === null ? [] : { pid, ...memory };
    });
  }

  #findMembers(): void {
    const present = new Set(readdirSync('/proc').map(Number).filter(Number.isInteger));
    for (const known of [this.#members, this.#outsiders]) {
      for (const pid of known) if (!present.has(pid)) known.delete(pid);
    }
    const fresh = new Map<number, ReturnType<typeof kinOf>>();
    for (const pid of present) {
      if (!this.#members.has(pid) && !this.#outsiders.has(pid)) fresh.set(pid, kinOf(readProc(pid, 'stat')));
    }
    let found: number;
    do {
      found = this.#members.size;
      for (const [pid, { parent, group }] of fresh) {
        if (group === this.#root || this.#members.has(parent)) this.#members.add(pid);
      }
    } while (this.#members.size > found);
    for (const pid of fresh.keys()) if (!this.#members.has(pid)) this.#outsiders.add(pid);
  }
}

/** The pids of a browser's processes that are alive, its own included. */
export async function treePids(root: number): Promise<number[]> {
  return treeOf(root, await listProcesses())
    .filter(({ isZombie }) => !isZombie)
    .map(({ pid }) => pid);
}

/**
 * Kills a browser with all its processes and sees them gone, within `limitMs`. Those whose parent died first are found
 * by their process group, which Playwright gives each browser.
 */
export async function killTree(root: number, limitMs = 5_000): Promise<boolean> {
  if (process.platform === 'win32') {
    await run('taskkill', ['/pid', String(root), '/T', '/F'], { timeout: COMMAND_TIMEOUT_MS }).catch(
      () => {},
    );
    return true;
  }
  const until = performance.now() + limitMs;
  for (let waitMs = 5; ; waitMs = Math.min(200, waitMs * 2)) {
    const pids = await treePids(root);
    if (pids.length === 0) return true;
    // Children first: a parent that is still there takes their exit status, so that none stays as a zombie.
    for (const pid of pids.reverse()) killProcess(pid);
    if (performance.now() > until) return false;
    await pause(waitMs);
  }
}

/** Ends one process at once, without asking it. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

/** Parents stand before their children. */
function treeOf(root: number, all: readonly ProcessEntry[]): ProcessEntry[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const tree = all.filter(({ pid }) => pid === root);
  const known = new Set([root]);
  const add = (entry: ProcessEntry): void => {
    if (known.has(entry.pid)) return;
    known.add(entry.pid);
    tree.push(entry);
  };
  const withDescendants = (from: number): void => {
    for (let index = from; index < tree.length; index += 1) {
      for (const child of children.get(tree[index]?.pid ?? -1) ?? []) add(child);
    }
  };
  withDescendants(0);
  const found = tree.length;
  for (const entry of all) if (entry.group === root) add(entry);
  withDescendants(found);
  return tree;
}

async function listProcesses(): Promise<ProcessEntry[]> {
  if (process.platform === 'win32') return [];
  return process.platform === 'linux' ? listByProc() : listByPs();
}

async function listByProc(): Promise<ProcessEntry[]> {
  const names = await readdir('/proc');
  const entries = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readEntry));
  return entries.filter((entry) => entry !== null);
}

async function readEntry(name: string): Promise<ProcessEntry | null> {
  try {
    const [stat, statm] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'latin1'),
      readFile(`/proc/${name}/statm`, 'latin1'),
    ]);
    return { pid: Number(name), ...kinOf(stat), ...memoryIn(statm) };
  } catch {
    return null; // The process ended while we looked.
  }
}

function kinOf(stat: string): Pick<ProcessEntry, 'parent' | 'group' | 'isZombie'> {
  // The program's name is in parentheses and may hold anything.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), group: Number(group), isZombie: state === 'Z' || state === 'X' };
}

function memoryIn(statm: string): Pick<ProcessEntry, 'ownBytes' | 'sharedBytes'> {
  const [, resident = 0, shared = 0] = statm.split(' ').map(Number);
  return { ownBytes: Math.max(0, resident - shared) * PAGE_BYTES, sharedBytes: shared * PAGE_BYTES };
}

function memoryOf(pid: number): ReturnType<typeof memoryIn> | null {
  const statm = readProc(pid, 'statm');
  return statm === '' ? null : memoryIn(statm);
}

/** Empty for a process that has ended. Such a file is in memory, so that reading it does not wait. */
function readProc(pid: number, file: 'stat' | 'statm'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

async function listByPs(): Promise<ProcessEntry[]> {
  const options = { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 8_388_608 };
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,rss='], options);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state = '', rssKib] = line.trim().split(/\s+/);
    if (pid === undefined || pid === '') return [];
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      isZombie: state.startsWith('Z'),
      ownBytes: Number(rssKib) * 1_024,
      sharedBytes: 0,
    };
  });
}
