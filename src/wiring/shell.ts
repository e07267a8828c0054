import { tmpdir } from 'node:os';
import type { Shell } from '../cli/shell/shell.ts';
import { VERSION } from '../version.ts';

/** What differs from one run of a command to the next. */
export type Surroundings = Pick<Shell, 'environment' | 'cwd' | 'stdin' | 'stdout' | 'stderr'>;

/** What opens storage and platform. The parts are loaded when they are first needed. */
export const OPENERS: Omit<Shell, keyof Surroundings | 'version'> = {
  openPlatform: async (options) => (await import('./platform.ts')).openPlatform(options),
  openStorage: async (place) => (await import('./storage.ts')).openStorage(place),
  openApi: async (platform, setup) => (await import('./platform-api.ts')).createPlatformApi(platform, setup),
  listenBeside: async (api, settings, metrics) =>
    (await import('../http/compat/firecrawl/firecrawl-api.ts')).listenFirecrawl(api, settings, metrics),
  openCommandApi: async (options) => (await import('./open-command-api.ts')).openCommandApi(options),
  removeAbandonedFolders: async (prefix) =>
    (await import('./storage.ts')).removeAbandonedFolders(tmpdir(), prefix, Date.now()),
  openExtractor: async (threads, plugins) =>
    (await import('./open-extractor.ts')).openExtractor(threads, plugins),
  inspect: {
    postgres: async (url) => (await import('../drivers/store-postgres/migrate.ts')).inspectPostgres(url),
    redis: async (url, prefix) => (await import('./open-links.ts')).inspectRedisFor(url, prefix),
    async bucket(url) {
      const { TRANSIT_FOLDER } = await import('../drivers/blobs-s3/blobs-s3.ts');
      return (await import('../drivers/blobs-s3/inspect.ts')).inspectBucket(url, TRANSIT_FOLDER);
    },
    folderLock: async (dataDir) =>
      (await import('../drivers/store-sqlite/folder-lock.ts')).isFolderLocked(dataDir),
    sqlite: async (path) => (await import('../drivers/store-sqlite/migrate.ts')).inspectSqlite(path),
  },
  backupTools: async () => (await import('./backups.ts')).BACKUP_TOOLS,
  confineBrowsers: async (path, settings) =>
    (await import('./render-lanes.ts')).confineBrowsers(path, settings),
  openLake: async (settings, beside) => (await import('./open-lake.ts')).openLake(settings, beside),
  shippedPolicy: async () => (await import('./shipped-policy.ts')).SHIPPED_POLICY,
};

/** The shell of a command. */
export const createShell = (surroundings: Surroundings): Shell => ({
  ...surroundings,
  version: VERSION,
  ...OPENERS,
});
