import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { EMBEDDED_ONLY } from './test/architecture/profiles.ts';
import { programTests } from './test/architecture/program-tests.ts';
import LongestFirst from './test/sequencer.ts';

/** Tests of what needs PostgreSQL, Redis or S3; no other profile has them. */
const SERVER_DRIVERS =
  '{store-postgres,search-postgres,queue-bullmq,bus-redis,limits-redis,blobs-s3,blobs-postgres,blobs-spill}';
const NEEDS_SERVERS = [
  `test/contract/${SERVER_DRIVERS}*.test.ts`,
  `src/drivers/${SERVER_DRIVERS}/**/*.test.ts`,
  'test/fleet/**/*.test.ts',
];
const ONE_PROFILE = Object.keys(EMBEDDED_ONLY).map((name) => `test/integration/${name}.test.ts`);
const EVERYTHING = ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'];
/** Test files that start browsers or other processes, found by their imports. */
const STARTS_PROGRAMS = programTests().map(({ path }) => path);
const WITHOUT_SERVERS = ['**/node_modules/**', ...NEEDS_SERVERS];

/**
 * Time limits end what hangs; none of them says how fast something has to be. A busy machine takes ten times as long as
 * an idle one.
 */
const shared = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks' as const,
  // Files share no state but modules. Loading these anew for each file takes two cores two and a half minutes.
  isolate: false,
  setupFiles: ['test/property/seed.ts'],
};
const embedded = { ...shared, provide: { postgresUrl: '', redisUrl: '', s3Url: '' } };
/** Browsers and servers on a busy machine may miss a time limit of their own once; the report names each such test. */
const RETRIES_WITH_PROGRAMS = 1;
/**
 * More tests at once than cores, because half of their time is spent waiting: with one and a half times as many, a fifth of
 * two cores had nothing to do. Beyond four cores each worker has enough of its own.
 */
const WORKERS = Math.ceil(Math.max(availableParallelism() * 1.5, Math.min(availableParallelism(), 4) * 2));

// Threads and processes that tests start load the sources anew each time; compiled sources halve that time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/tests', import.meta.url));

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // A test that fails here fails: nothing it depends on lies outside of this project.
        test: {
          ...embedded,
          name: 'embedded',
          retry: 0,
          include: EVERYTHING,
          exclude: [...WITHOUT_SERVERS, ...STARTS_PROGRAMS],
        },
      },
      {
        test: {
          ...embedded,
          name: 'embedded-programs',
          // Programs, browsers and servers of a file may leave more behind in their process than modules.
          isolate: true,
          retry: RETRIES_WITH_PROGRAMS,
          include: STARTS_PROGRAMS,
          exclude: WITHOUT_SERVERS,
        },
      },
      {
        // The integration tests run once more, on the fleet's drivers: what a crawl does must not depend on them.
        test: {
          ...shared,
          name: 'fleet',
          retry: RETRIES_WITH_PROGRAMS,
          include: [...NEEDS_SERVERS, 'test/integration/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...ONE_PROFILE],
          globalSetup: ['test/fleet/start-servers.ts'],
          env: { FLEET_TEST_PROFILE: 'fleet' },
        },
      },
    ],
  },
});
