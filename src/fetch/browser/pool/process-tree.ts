import { execFile } from 'node:child_process';
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
    for (const pid of pids.reverse()) kill(pid);
    if (performance.now() > until) return false;
    await pause(waitMs);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
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
    // The program's name is in parentheses and may hold anything.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [, resident = 0, shared = 0] = statm.split(' ').map(Number);
    return {
      pid: Number(name),
      parent: Number(parent),
      group: Number(group),
      isZombie: state === 'Z' || state === 'X',
      ownBytes: Math.max(0, resident - shared) * PAGE_BYTES,
      sharedBytes: shared * PAGE_BYTES,
    };
  } catch {
    return null; // It ended while we looked.
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
