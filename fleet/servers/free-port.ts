import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems hand out for outgoing connections: a server that is down for a while must find its
 * port free when it comes back, however many connections are made meanwhile.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 100;

/** Ports given out lately by this process, so that two servers which start at once do not get the same. */
const given = new Set<number>();

export async function freePort(random: () => number = Math.random): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = FIRST_PORT + Math.floor(random() * (LAST_PORT - FIRST_PORT));
    if (given.has(port)) continue;
    if (given.size >= 1_000) given.clear();
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${FIRST_PORT} and ${LAST_PORT} after ${ATTEMPTS} attempts.`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}
