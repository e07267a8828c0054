import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { reportListenerErrors } from '../core/errors/guarded.ts';
import { createLogger } from '../core/observe/logger.ts';
import type { CallHandler } from '../core/ports/queue.ts';
import { treePids } from '../fetch/browser/pool/process-tree.ts';
import { startRenderWorker } from '../fetch/remote/render-worker.ts';
import { createParcels } from '../fetch/remote/sealed-calls.ts';
import { ChildChannel } from '../fetch/render-process/child-channel.ts';
import { becomeUser } from '../fetch/render-process/confinement.ts';
import type { StartMessage, StateMessage } from '../fetch/render-process/process-messages.ts';
import { createRenderEngines, type RenderEngines } from './render-engines.ts';

/**
 * Where a render process begins: the only process that loads the library that drives browsers. It answers calls that
 * come by its pipe, holds no secrets, and ends with the server that has started it.
 */
const PIPE = 3;
const SLOWEST_KILL_MS = 2_000;

// Before anything comes by the pipe: the imports above are all that needs the rights of who started this process.
const [, , user] = process.argv;
if (user !== undefined) becomeUser(user);

let engines: RenderEngines | null = null;
let isEnding = false;
let home: string | null = null;

const channel = new ChildChannel({
  pipe: new Socket({ fd: PIPE, readable: true, writable: true }),
  onStart(start) {
    home = start.home;
    engines = openEngines(start);
    channel.ready();
    // The health of the pool says why a browser does not start.
    engines.warm().catch(() => undefined);
  },
  async handlerOf(name, blobs) {
    if (engines === null) throw new Error('a call came before the settings');
    const engine = engines.engine(name);
    const { promise, resolve } = Promise.withResolvers<CallHandler>();
    // Each call has bytes of its own, so each has a worker of its own, which takes no further calls.
    await startRenderWorker({
      name,
      blobs,
      parcels: createParcels(blobs, null),
      engine,
      concurrency: 1,
      logger,
      queue: {
        async answer(_name, _concurrency, handler) {
          resolve(handler);
          return { stop: async () => undefined };
        },
      },
    });
    return promise;
  },
  state,
  onClose: () => void close(),
  onGone: () => void endAtOnce(),
});

const logger = createLogger({
  level: 'warn',
  destination: {
    write(line) {
      const {
        level = 'warn',
        msg = '',
        err,
      } = JSON.parse(line) as {
        level?: string;
        msg?: string;
        err?: { message?: string };
      };
      const reason = err?.message ?? null;
      channel.tellEvent({
        what: 'log',
        level,
        message: msg.slice(0, 1_000),
        reason: reason === null ? null : reason.slice(0, 1_000),
      });
    },
  },
});

// One page's error is no reason to lose the pages that are shown beside it.
reportListenerErrors((error) => logger.error({ err: error }, 'a listener failed'));

function openEngines({
  settings,
  executablePath,
  limits,
  hasSolver,
  isSandboxed,
}: StartMessage): RenderEngines {
  return createRenderEngines({
    settings,
    executablePath,
    limits,
    isSandboxed,
    solver: hasSolver ? channel.solver : null,
    events: {
      relocate: () => channel.relocate(),
      onLaunched: (version, path) => {
        channel.tellEvent({ what: 'browser launched', version, path });
        // The server ends browsers whose process was lost: it has to know them from the start.
        channel.tellState();
      },
      onHealth: () => channel.tellState(),
      onEvent: ({ kind, reason }) =>
        channel.tellEvent({ what: 'pool', kind, reason: reason.slice(0, 1_000) }),
    },
  });
}

function state(): StateMessage {
  return {
    health: {
      browser: engines?.health('browser') ?? { state: 'ok', code: null, reason: null },
      stealth: engines?.health('stealth') ?? { state: 'ok', code: null, reason: null },
    },
    figures: engines?.figures() ?? null,
    browserPids: [...(engines?.browserPids() ?? [])],
  };
}

async function close(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await engines?.close();
  process.exit(0);
}

/** Without a server there is nothing to close in order for. */
async function endAtOnce(): Promise<void> {
  isEnding = true;
  setTimeout(() => process.exit(1), SLOWEST_KILL_MS);
  const pids = await treePids(process.pid).catch(() => []);
  for (const pid of pids.reverse()) {
    try {
      if (pid !== process.pid) process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended already.
    }
  }
  if (home !== null) await rm(home, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  process.exit(1);
}
