import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** A thread of its own, so that what the hostile clients cost their process is not measured as the server's. */
const { port } = workerData as { port: number };
const EVERY_MS = 50;
const MOST_MS = 30_000;

export interface Probed {
  readonly count: number;
  readonly failed: number;
  readonly worstMs: number;
  /** The time that 99 of 100 did not exceed. */
  readonly p99Ms: number;
}

let times: number[] = [];
let failed = 0;

async function probe(): Promise<void> {
  const startedAt = performance.now();
  const isWell = await new Promise<boolean>((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/healthz', agent: false, timeout: MOST_MS });
    asked.on('response', (response) =>
      response.resume().on('end', () => resolve(response.statusCode === 200)),
    );
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
  if (!isWell) failed += 1;
  times.push(performance.now() - startedAt);
  setTimeout(() => void probe(), EVERY_MS);
}
void probe();

/** Tells what was measured since the last time. */
parentPort?.on('message', () => {
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number) => Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0);
  const probed: Probed = { count: sorted.length, failed, worstMs: at(1), p99Ms: at(0.99) };
  times = [];
  failed = 0;
  parentPort?.postMessage(probed);
});
