import type { Command } from 'commander';
import type { FastifyInstance } from 'fastify';
import type { BackupTools } from '../../capabilities/backup/installation.ts';
import type { Capabilities } from '../../capabilities/capabilities.ts';
import type { Exports } from '../../capabilities/exports/exports.ts';
import type { Jobs } from '../../capabilities/jobs/jobs.ts';
import type { LakeParts } from '../../capabilities/lake/lake-files.ts';
import type { SqlQueries } from '../../capabilities/query/sql/sql-queries.ts';
import type { Sessions } from '../../capabilities/sessions/sessions.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Page } from '../../core/model/page.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Activity } from '../../core/observe/loop-watch.ts';
import type { WaitingWork } from '../../core/observe/metrics/sources.ts';
import type { Metrics } from '../../core/observe/metrics.ts';
import type { Blobs, Files } from '../../core/ports/blobs.ts';
import type { Bus, KnownProcess } from '../../core/ports/bus.ts';
import type { Limits } from '../../core/ports/limits.ts';
import type { Queue } from '../../core/ports/queue.ts';
import type { Search } from '../../core/ports/search-store.ts';
import type { BucketFacts, PostgresFacts, RedisFacts } from '../../core/ports/server-facts.ts';
import type { Store } from '../../core/ports/store.ts';
import type { ExchangeObserver } from '../../crawl/host/attempt/exchange-observer.ts';
import type { PoolFigures } from '../../crawl/plan/proxies/fleet-figures.ts';
import type { Policies } from '../../crawl/policy/policies.ts';
import type { PageReader } from '../../crawl/read/page-reading.ts';
import type { Confinement } from '../../fetch/render-process/confinement.ts';
import type { browserPart } from '../../http/health/readiness.ts';
import type { SystemParts } from '../../http/health/system-parts.ts';

/** The environment of a command: streams, folder, and functions that open storage and platform. Commands build no drivers. */
export interface Shell {
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly version: string;
  readonly stdin: NodeJS.ReadStream;
  /** Belongs to results; everything said about the work goes to `stderr`. */
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The only process in the data folder: throws DATA_DIR_LOCKED when another one works there. */
  openPlatform(options: PlatformSetup): Promise<OpenPlatform>;
  /** For reading and small changes, also beside running servers. Makes a folder that is not there. */
  openStorage(place: StoragePlace): Promise<OpenPlace>;
  /** The API over an open platform: all of it, or only health and metrics where the role of the process is no API. */
  openApi(platform: OpenPlatform, setup: ApiSetup): Promise<FastifyInstance>;
  /** Listens for the Firecrawl-compatible API as well; null when the settings give it no port of its own. */
  listenBeside(
    api: FastifyInstance,
    settings: Settings,
    metrics: Metrics,
  ): Promise<{ readonly port: number; close(drainMs: number): Promise<void> } | null>;
  /** The use cases of the API on a data folder or database, also beside running servers. Makes a folder that is not there. */
  openCommandApi(options: {
    /** The settings name the place that the command works in. */
    readonly settings: Settings;
    /** Whose things the command works on; left out: those of the operator's account. */
    readonly account: string | undefined;
    /** SQL over the lake beside the store, for commands that ask for it. */
    readonly openSql: (store: Store) => Promise<{ readonly sql: SqlQueries; close(): Promise<void> }>;
  }): Promise<OpenCommandApi>;
  /**
   * Removes the folders for temporary files whose names begin so, and whose process was killed before it could. Folders
   * that are in use, of other users, or without the lock file of a data folder stay.
   */
  removeAbandonedFolders(prefix: string): Promise<void>;
  /**
   * Reads pages in threads and keeps nothing of them; they start with the first page. 0: as many as this
   * machine has room for. `plugins`: the setting of this name.
   */
  openExtractor(threads: number, plugins: string): Promise<PageReader>;
  /** What is found by looking at the servers of an installation; each throws what keeps its server from being used. */
  readonly inspect: {
    postgres(url: string): Promise<PostgresFacts>;
    redis(url: string, prefix: string): Promise<RedisFacts>;
    bucket(url: string): Promise<BucketFacts>;
    /** The version of the schema in a file of SQLite, and the newest one that this program knows. */
    sqlite(path: string): Promise<{
      readonly schemaVersion: number;
      readonly newestSchema: number;
      readonly ignored: string | null;
    }>;
    /** Whether a process works in the data folder now. */
    folderLock(dataDir: string): Promise<boolean>;
  };
  /** Copies of whole installations. */
  backupTools(): Promise<BackupTools>;
  /** How browsers of this program are kept from the rest of the machine, as far as it allows that. */
  confineBrowsers(executablePath: string, settings: Settings): Promise<Confinement>;
  /** The lake of an open storage. */
  openLake(
    settings: Settings,
    beside: { readonly store: Store; readonly now: () => number; readonly logger: Logger },
  ): Promise<OpenLakePlace>;
  /** The policy file that rules when the settings name none. */
  shippedPolicy(): Promise<string>;
}

/** The routes of the API within this process, with all rights in one account. */
export interface OpenCommandApi {
  /** Throws what the route throws. */
  send(request: {
    readonly method: string;
    /** The path with its query. */
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  }): Promise<{
    readonly status: number;
    json(): Promise<unknown>;
    bytes(): AsyncGenerator<Uint8Array>;
  }>;
  readonly account: AccountId;
  readonly store: Store;
  readonly blobs: Blobs;
  readonly jobs: Jobs;
  readonly exports: Exports;
  close(): Promise<void>;
}

/** What an API tells and is told of its process. */
export interface ApiSetup {
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly activity?: Activity;
  /** The last log lines, where each setting was given, and the checks of this machine. */
  readonly system?: Pick<SystemParts, 'log' | 'sources' | 'doctor'>;
  /** Whether the process was told to stop. */
  readonly isStopping?: () => boolean;
}

/** A lake, and SQL over it. */
export interface OpenLakePlace {
  readonly parts: LakeParts;
  readonly sql: SqlQueries;
  close(): Promise<void>;
}

export interface PlatformSetup {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** URLs of this very server that may be fetched although its address is refused. */
  readonly ownPages?: () => readonly string[];
  /** False: the caller writes the exports of its jobs. */
  readonly writesExports?: boolean;
  /** After which time monitors look again at pages that a check was not sure of; left out: as a server does. */
  readonly recheckMs?: number;
  /** Where sessions and credentials are, when not with the jobs; used beside servers that work there. */
  readonly accountsIn?: StoragePlace;
}

/** Where everything is kept, by the settings of the same names. */
export type StoragePlace = Pick<
  Settings,
  'dataDir' | 'databaseUrl' | 'databasePool' | 's3Url' | 'spillBytes'
>;

/** Opened for a command alone. */
export interface OpenPlace extends OpenStorage {
  /** Bytes on their way between processes; null where there are none. */
  readonly transit: Blobs | null;
  /** Keeps every other process out of the data folder; null where others work, or may. Call what it returns to end that. */
  lockAlone(): (() => void) | null;
}

export interface OpenStorage {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly search: Search;
  close(): Promise<void>;
}

export interface OpenPlatform extends OpenStorage {
  /** The settings have the keys of the vault, wherever they come from. */
  readonly settings: Settings;
  /** What the store lost before this process had it; null when nothing is known. */
  readonly storeDegradation: () => string | null;
  readonly blobs: Blobs & {
    /** Why bodies are not where they belong at the moment; null when they are. */
    degradation(): string | null;
  };
  readonly exportFiles: Files;
  readonly lake: OpenLakePlace;
  readonly jobs: Jobs;
  readonly capabilities: Capabilities;
  /** Sessions, and the store that has them. */
  readonly accounts: { readonly sessions: Sessions; readonly store: Store };
  readonly bus: Bus;
  readonly queue: Queue;
  readonly limits: Limits;
  readonly policies: () => Policies;
  /** What the proxies of this process have done; null where it has none. */
  readonly proxyFigures: () => PoolFigures | null;
  /** This process and those of the same installation that were heard of lately. */
  readonly processes: () => readonly KnownProcess[];
  /** Work that waits for a worker, in the whole installation. */
  readonly waiting: () => Promise<readonly WaitingWork[]>;
  /** Whether pages can be shown by the browsers of this process; null where it has none. */
  readonly browserHealth: Parameters<typeof browserPart>[0] | null;
  readonly now: () => number;
  /** What the crawl of this process has under way. */
  load(): { readonly activeSlices: number; readonly inFlightFetches: number };
  /** What this process does; see the roles. `render` is the engine it renders with for others. */
  readonly duties: { readonly api: boolean; readonly render: string | null };
  watchPages(listener: (pages: readonly Page[]) => void): void;
  observeExchanges(observer: ExchangeObserver): void;
  lookForBrowsers(): void;
  /** Resolves when all that was committed before has been read by the readers of this process. */
  settleReaders(): Promise<void>;
  start(): Promise<void>;
  /** Takes no more work and finishes the work under way; everything else still works. */
  drain(): Promise<void>;
}

/**
 * Adds arguments, options and action to a command. An action that returns has done what was asked; `endWith` says
 * otherwise, and so does what it throws.
 */
export type DefineCommand = (
  command: Command,
  shell: Shell,
  endWith: (exitCode: number) => void,
  run: RunCommand,
) => void;

/** Runs another command of the program, which tells its own failure, and returns its exit code. */
export type RunCommand = (argv: readonly string[], shell: Shell) => Promise<number>;
