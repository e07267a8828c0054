import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Role } from '../src/core/config/settings.ts';
import { restartDelayMs } from './restart-delay.ts';
import { createServerProcess } from './servers/server-process.ts';

/**
 * `starting`: does not answer yet. `ready`: all it needs works. `unready`: it answers, and says that something it
 * needs does not work. `silent`: it runs and does not answer. `down`: it ended, and is started again when the fleet
 * keeps it up. `stopped`: it was told to stop.
 */
export type RoleState = 'starting' | 'ready' | 'unready' | 'silent' | 'down' | 'stopped';

/** How one run of a process ended. */
export interface ProcessExit {
  /** When the process ended, in epoch milliseconds. */
  readonly at: number;
  /** When this run was launched. */
  readonly startedAt: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What the fleet had asked for: `stop` is SIGTERM, `kill` is SIGKILL; null when the process ended by itself. */
  readonly asked: 'stop' | 'kill' | null;
}

/** One process of the fleet. */
export interface RoleProcess {
  /** Name of the process, such as `http-worker-2`. */
  readonly name: string;
  readonly role: Role;
  /** 0 while it does not run. */
  readonly pid: number;
  /** Another one after every start; null until it has said so. */
  readonly origin: string | null;
  /** As of the last look; the fleet looks every three seconds. */
  readonly state: RoleState;
  /** How often it was started again. */
  readonly restarts: number;
  /** Every end so far, oldest first. */
  readonly exits: readonly ProcessExit[];
  readonly logFile: string;
  readonly dataDir: string;
  /** Resolves when it answers. Throws with the end of its log when it does not in time, or ends. */
  start(): Promise<void>;
  /** SIGTERM, and kill -9 when it takes too long. It stays down until it is started. */
  stop(): Promise<void>;
  /** Stops the process and starts it again. */
  restart(): Promise<void>;
  /** kill -9. A fleet that keeps its processes up starts it again by itself. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Asks it how it is. */
  look(): Promise<void>;
}

export interface RoleProcessOptions {
  readonly name: string;
  readonly role: Role;
  /** Its log and its data go into folders below this one. */
  readonly dir: string;
  /** Settings, by their names in the environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it is started again when it ends without having been told to. */
  readonly isKeptUp: boolean;
  /** How long `stop` waits before it kills the process. */
  readonly stopMs: number;
}

const LAUNCHER = fileURLToPath(new URL('../scrapifie', import.meta.url));
const READY_MS = 90_000;
const LOOK_MS = 3_000;
/** A process that has run this long is sound; what ends it then is something new. */
const SOUND_AFTER_MS = 30_000;
/** The line with the origin comes early; a log without it in the first part has none. */
const READ_BYTES = 1_048_576;

export function createRoleProcess(options: RoleProcessOptions): RoleProcess {
  const { name, role, dir, environment, isKeptUp, stopMs } = options;
  const logFile = join(dir, `${name}.log`);
  const dataDir = join(dir, name);
  mkdirSync(dataDir, { recursive: true });
  let origin: string | null = null;
  let state: RoleState = 'stopped';
  let restarts = 0;
  let starts = 0;
  let failuresInRow = 0;
  let startedAt = 0;
  let isWanted = false;
  /** Where this life of the process begins in the log. */
  let logStart = 0;
  const exits: ProcessExit[] = [];
  let launchedAt = 0;
  let asked: ProcessExit['asked'] = null;

  const server = createServerProcess({
    name,
    command: LAUNCHER,
    args: ['serve', '--role', role, '--port', '0'],
    // Who runs the fleet on this machine reads the figures of its processes without a key.
    environment: { SCRAPIFIE_METRICS_FROM: '127.0.0.1', ...environment, SCRAPIFIE_DATA_DIR: dataDir },
    // Its settings are the fleet's, whatever variables and files are set where it is started.
    withheldPrefix: 'SCRAPIFIE_',
    cwd: dataDir,
    logFile,
    stopSignal: 'SIGTERM',
    stopMs,
    readyMs: READY_MS,
    async isReady() {
      origin ??= await originIn(logFile, logStart);
      return origin !== null && (await statusOf(`${origin}/healthz`)) === 200;
    },
    onExit(code, signal) {
      exits.push({ at: Date.now(), startedAt: launchedAt, code, signal, asked });
      asked = null;
      origin = null;
      state = isWanted ? 'down' : 'stopped';
      if (isWanted && isKeptUp) void keepUp();
    },
  });

  async function launch(): Promise<void> {
    logStart = (await stat(logFile).catch(() => ({ size: 0 }))).size;
    state = 'starting';
    startedAt = performance.now();
    launchedAt = Date.now();
    if (starts > 0) restarts += 1;
    starts += 1;
    await server.start();
    await look();
  }

  /** Starts it again until it is up or no longer wanted. */
  async function keepUp(): Promise<void> {
    failuresInRow = performance.now() - startedAt > SOUND_AFTER_MS ? 0 : failuresInRow + 1;
    await delay(restartDelayMs(failuresInRow), undefined, { ref: false });
    if (!isWanted || server.isRunning) return;
    // When it fails it has ended, and its end brings us here again.
    await launch().catch(() => {});
  }

  async function look(): Promise<void> {
    const asked = origin;
    if (asked === null) return;
    const status = await statusOf(`${asked}/readyz`);
    if (origin !== asked) return;
    state = status === null ? 'silent' : status === 200 ? 'ready' : 'unready';
  }

  async function start(): Promise<void> {
    isWanted = false;
    try {
      await launch();
      isWanted = true;
    } finally {
      if (!isWanted) state = 'stopped';
    }
  }

  async function stop(): Promise<void> {
    isWanted = false;
    if (server.isRunning) asked = 'stop';
    await server.stop();
    state = 'stopped';
  }

  return {
    name,
    role,
    get pid() {
      return server.pid;
    },
    get origin() {
      return origin;
    },
    get state() {
      return state;
    },
    get restarts() {
      return restarts;
    },
    exits,
    logFile,
    dataDir,
    start,
    stop,
    async restart() {
      await stop();
      await start();
    },
    async kill() {
      if (server.isRunning) asked = 'kill';
      await server.kill();
    },
    pause: server.pause,
    resume: server.resume,
    look,
  };
}

/** The address in the line that says `ready`. */
async function originIn(logFile: string, from: number): Promise<string | null> {
  const file = await open(logFile);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, from);
    for (const line of buffer.toString('utf8', 0, bytesRead).split('\n')) {
      const found = readyLine(line);
      if (found !== null) return found;
    }
    return null;
  } finally {
    await file.close();
  }
}

function readyLine(line: string): string | null {
  // As people read it, see `SCRAPIFIE_LOG_FORMAT`; only this line has a version behind its address.
  if (!line.startsWith('{')) return / ready origin=(http:\S+) version=/.exec(line)?.[1] ?? null;
  try {
    const { msg, origin } = JSON.parse(line) as { msg?: unknown; origin?: unknown };
    return msg === 'ready' && typeof origin === 'string' ? origin : null;
  } catch {
    // Half of a line; the other half comes.
    return null;
  }
}

/**
 * Null when there is no answer. Every question has a connection of its own, which ends with it: one that was opened
 * to a paused process and never used would be in the way when that process wants to close.
 */
async function statusOf(url: string): Promise<number | null> {
  const asking = get(url, { agent: false, signal: AbortSignal.timeout(LOOK_MS) });
  try {
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    return response.statusCode ?? null;
  } catch {
    return null;
  } finally {
    asking.on('error', () => {});
    asking.destroy();
  }
}
