import { setTimeout as delay } from 'node:timers/promises';
import { restartDelayMs } from './restart-delay.ts';

/** A server that may die: its `pid` is 0 while it is down. */
export interface MortalServer {
  readonly pid: number;
  /** Starts it on the same port and data. */
  restart(): Promise<void>;
}

const LOOK_EVERY_MS = 500;

/**
 * Starts servers again that have died, until the signal fires. A server that does not start is tried again after a pause
 * that grows. Resolves when nothing more is started.
 */
export async function keepServersUp(
  servers: Readonly<Record<string, MortalServer>>,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<void> {
  await Promise.all(Object.entries(servers).map(([name, server]) => keepUp(name, server, signal, tell)));
}

async function keepUp(
  name: string,
  server: MortalServer,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<void> {
  let failuresInRow = 0;
  const pause = (ms: number) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  while (!signal.aborted) {
    if (server.pid !== 0) {
      failuresInRow = 0;
      await pause(LOOK_EVERY_MS);
      continue;
    }
    failuresInRow += 1;
    await pause(restartDelayMs(failuresInRow));
    if (signal.aborted || server.pid !== 0) continue;
    try {
      await server.restart();
      tell(`${name} had ended and was started again.`);
    } catch (error) {
      tell(`${name} has ended and does not start: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
