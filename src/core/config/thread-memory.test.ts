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

/** Keeps a few megabytes at a time, each long enough to become old, and says how large its heap was at most. */
const BUSY = `
  import { getHeapStatistics } from 'node:v8';
  import { parentPort } from 'node:worker_threads';
  const kept = [];
  let most = 0;
  for (let turn = 0; turn < 120; turn += 1) {
    kept.push(Array.from({ length: 20_000 }, (_, at) => ({ at, turn })));
    if (kept.length > 4) kept.shift();
    most = Math.max(most, getHeapStatistics().total_heap_size);
  }
  parentPort.postMessage(most);
`;

it('a thread that is to stay small collects old objects from the beginning on, others later', () => {
  const program = `
    import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    import { keepThreadLimits, startSmallThread } from '${MODULE}';
    keepThreadLimits(128);
    const limits = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 512 };
    const start = () => new Worker(${JSON.stringify(BUSY)}, { eval: true, resourceLimits: limits });
    const [small] = await once(startSmallThread(start), 'message');
    const [other] = await once(start(), 'message');
    console.log(JSON.stringify([small, other]));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const [small, other] = JSON.parse(stdout) as [number, number];
  expect(other).toBeGreaterThan(small * 1.5);
});
