import { availableParallelism } from 'node:os';

/** Node.js as `./scrapifie` starts it, for programs of the bench that are not started by it. */
export const LAUNCH_FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=8',
  '--initial-old-space-size=64',
  '--max-old-space-size=1024',
  ...(availableParallelism() < 4 ? ['--v8-pool-size=1'] : []),
];

export const LAUNCH_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };
