import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const LIMIT_MB = 64;

/** Prints the limit of the heap of the main thread, and of one that is started with a limit of its own, in megabytes. */
const PROGRAM = (start: string) => `
  import { getHeapStatistics } from 'node:v8';
  import { Worker } from 'node:worker_threads';
  ${start}
  const source = 'import { parentPort } from "node:worker_threads"; import { getHeapStatistics } from "node:v8";'
    + 'parentPort.postMessage(getHeapStatistics().heap_size_limit / 2 ** 20)';
  const thread = new Worker(source, {
    eval: true,
    resourceLimits: { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: ${LIMIT_MB} },
  });
  thread.on('message', (of) => console.log(JSON.stringify([getHeapStatistics().heap_size_limit / 2 ** 20, of])));
`;
const MODULE = new URL('./thread-memory.ts', import.meta.url).href;

function limitsWith(start: string): [number, number] {
  const flags = ['--max-semi-space-size=8', '--max-old-space-size=512', '--input-type=module', '--eval'];
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, PROGRAM(start)], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as [number, number];
}

it('a thread keeps its own limit of memory beside that of the main thread', () => {
  const [main, thread] = limitsWith(`import { keepThreadLimits } from '${MODULE}'; keepThreadLimits();`);
  expect(main).toBeGreaterThanOrEqual(512);
  expect(thread).toBeLessThan(2 * LIMIT_MB);
});

it('without that, V8 would give it the limit of the main thread', () => {
  const [, thread] = limitsWith('');
  expect(thread).toBeGreaterThanOrEqual(512);
});
