import { subscribe } from 'node:diagnostics_channel';

/**
 * Loaded before the program (`--import`): the process dies in the given way as soon as the head of the response to the
 * given URL has arrived, while its task is under way.
 */
const url = process.env.TEST_POISON_URL;
const way = process.env.TEST_POISON_WAY;

const DEATHS: Readonly<Record<string, () => void>> = {
  abort: () => process.abort(),
  heap() {
    const held: number[][] = [];
    for (;;) held.push(new Array<number>(1_000_000).fill(held.length + 0.5));
  },
  stack: () => void depthOf(0),
  'native crash': () => process.kill(process.pid, 'SIGSEGV'),
  'OOM kill': () => process.kill(process.pid, 'SIGKILL'),
  'uncaught error': () =>
    void setImmediate(() => {
      throw new Error('thrown where no part of the program can catch it');
    }),
};

/** Without end; kills the process where Node may use more stack than the system gives it. */
function depthOf(depth: number): number {
  return depthOf(depth + 1) + 1;
}

subscribe('undici:request:headers', (message) => {
  const { request } = message as { request: { origin: string | URL; path: string } };
  if (new URL(request.path, request.origin).href === url) DEATHS[way ?? '']?.();
});
