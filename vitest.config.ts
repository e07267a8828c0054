import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests of what needs PostgreSQL, Redis or S3; no other profile has them. */
const SERVER_DRIVERS =
  '{store-postgres,queue-bullmq,bus-redis,limits-redis,blobs-s3,blobs-postgres,blobs-spill}';
const NEEDS_SERVERS = [
  `test/contract/${SERVER_DRIVERS}*.test.ts`,
  `src/drivers/${SERVER_DRIVERS}/**/*.test.ts`,
  'test/fleet/**/*.test.ts',
];
/** What concerns the data folder and the commands that work in one. */
const ABOUT_FOLDERS = [
  'test/integration/{cli,cli-crawl,cli-drain,cli-extract,cli-serve,bad-folder,full-disk}.test.ts',
];
const EVERYTHING = ['src/**/*.test.ts', 'test/**/*.test.ts'];

const shared = {
  // Real browsers and servers on a busy machine may miss a time limit of their own once.
  retry: 2,
  testTimeout: 30_000,
  hookTimeout: 30_000,
  pool: 'forks' as const,
  setupFiles: ['test/property/seed.ts'],
};
/** Four tenths of the time of the tests is spent waiting, so there may be more of them at once than cores. */
const WORKERS = Math.ceil(availableParallelism() * 1.5);

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    projects: [
      {
        test: {
          ...shared,
          name: 'embedded',
          include: EVERYTHING,
          exclude: ['**/node_modules/**', ...NEEDS_SERVERS],
          provide: { postgresUrl: '', redisUrl: '', s3Url: '' },
        },
      },
      {
        // The integration tests run once more, on the fleet's drivers: what a crawl does must not depend on them.
        test: {
          ...shared,
          name: 'fleet',
          include: [...NEEDS_SERVERS, 'test/integration/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...ABOUT_FOLDERS],
          globalSetup: ['test/fleet/start-servers.ts'],
          env: { FLEET_TEST_PROFILE: 'fleet' },
        },
      },
    ],
  },
});
