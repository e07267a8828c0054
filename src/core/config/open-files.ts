import { readFileSync } from 'node:fs';
import type { Settings } from './settings.ts';

/** Below this the threads, the database and a few fetches of a process would not find enough. */
export const LEAST_OPEN_FILES = 192;
/** What a process needs besides connections: its threads, database, packs of bodies, exports, logs and child processes. */
const OWN_FILES = 112;
/** Connections to PostgreSQL are in the settings; these are those to Redis and to the object store. */
const SERVER_CONNECTIONS = 48;
/** The part of all other files that is for connections to sites. */
const SITES_PART = 0.4;
/** A page that is fetched needs one connection, and one that was used before is kept for a moment. */
const FILES_OF_FETCH = 2;
/** What an operator does about it. */
export const RAISE_OPEN_FILES =
  'Raise it: `ulimit -n 65536`, LimitNOFILE= in a systemd unit, or --ulimit nofile= of a container.';
/** Clients of a small installation have enough with as many. */
const ENOUGH_CONNECTIONS = 1_024;

type Budgeted = Pick<
  Settings,
  'maxConnections' | 'maxConcurrency' | 'firecrawlPort' | 'databaseUrl' | 'databasePool'
>;

/** How the files and connections that a process may have open at once are divided. */
export interface FileBudget {
  /** Connections of clients, for each port. */
  readonly maxConnections: number;
  /** Most pages that are fetched at once. */
  readonly maxConcurrency: number;
  /** Connections to sites, those included that wait for another request. */
  readonly siteConnections: number;
  /** Whether the limit keeps the process from what the settings allow, and by so much that it matters. */
  readonly isShort: boolean;
}

/**
 * How many files, connections and pipes this process may have open; null without a limit. Node.js raises the soft limit to the hard
 * one when it starts.
 */
export function openFileLimit(): number | null {
  const soft = Number(limitOfSystem() ?? limitOfReport());
  return Number.isFinite(soft) && soft > 0 ? soft : null;
}

/** Linux has it in a file, which is quicker to read than a report is to make; null elsewhere. */
function limitOfSystem(): string | null {
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

function limitOfReport(): number | string | undefined {
  const { userLimits } = (process.report?.getReport() ?? {}) as {
    userLimits?: { open_files?: { soft?: number | string } };
  };
  return userLimits?.open_files?.soft;
}

/**
 * Divides what the operating system allows, so that clients cannot take from the crawls what these need to go on, nor the other
 * way round. The settings are the most that each may have.
 */
export function budgetFiles(limit: number | null, settings: Budgeted): FileBudget {
  const { maxConnections, maxConcurrency, firecrawlPort, databaseUrl, databasePool } = settings;
  if (limit === null) {
    return { maxConnections, maxConcurrency, siteConnections: Number.POSITIVE_INFINITY, isShort: false };
  }
  const own = OWN_FILES + (databaseUrl === undefined ? 0 : databasePool + SERVER_CONNECTIONS);
  const left = Math.max(limit - own, limit / 4);
  const siteConnections = Math.floor(left * SITES_PART);
  const ports = firecrawlPort === undefined ? 1 : 2;
  const budget = {
    maxConnections: Math.min(maxConnections, Math.floor((left - siteConnections) / ports)),
    maxConcurrency: Math.min(maxConcurrency, Math.floor(siteConnections / FILES_OF_FETCH)),
    siteConnections,
  };
  const isShort =
    budget.maxConcurrency < maxConcurrency ||
    budget.maxConnections < Math.min(maxConnections, ENOUGH_CONNECTIONS);
  return { ...budget, isShort };
}
