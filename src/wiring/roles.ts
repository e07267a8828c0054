import type { Role, Settings } from '../config/settings.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';

/** What a process does, by its role. */
export interface Duties {
  /** Answers the API; every role answers the questions about its own health. */
  readonly api: boolean;
  /** Owns hosts and fetches their pages. */
  readonly crawl: boolean;
  /** Ends jobs whose time is over, and offers hosts that no message announced. */
  readonly schedule: boolean;
  /** Answers renders of this kind; null: none. */
  readonly render: 'browser' | 'stealth' | null;
}

const NONE: Duties = { api: false, crawl: false, schedule: false, render: null };

export const DUTIES: Readonly<Record<Role, Duties>> = {
  all: { api: true, crawl: true, schedule: true, render: null },
  api: { ...NONE, api: true },
  'http-worker': { ...NONE, crawl: true },
  'browser-worker': { ...NONE, render: 'browser' },
  'stealth-worker': { ...NONE, render: 'stealth' },
  scheduler: { ...NONE, schedule: true },
};

type Places = Pick<Settings, 'role' | 'databaseUrl' | 'redisUrl' | 's3Url'>;

/**
 * Refuses settings that cannot be right together: a part of a fleet needs places that the other parts can reach.
 * One process that does everything may mix as it likes.
 */
export function refuseIncompleteFleet({ role, databaseUrl, redisUrl, s3Url }: Places): void {
  if (role === 'all') return;
  const missing = [
    databaseUrl === undefined && {
      field: 'databaseUrl',
      problem: 'SCRAPIFIE_DATABASE_URL is not set, and an SQLite file belongs to one process',
    },
    redisUrl === undefined && {
      field: 'redisUrl',
      problem: 'SCRAPIFIE_REDIS_URL is not set, and the built-in queue reaches no other process',
    },
    s3Url === undefined && {
      field: 's3Url',
      problem: 'SCRAPIFIE_S3_URL is not set, and the other parts cannot read bodies in a folder of this one',
    },
  ].filter((each) => each !== false);
  if (missing.length === 0) return;
  throw new ScrapifieError(
    'INVALID_SETTINGS',
    `The role ${role} is a part of a fleet: ${missing.map(({ problem }) => problem).join('; ')}.`,
    { details: missing },
  );
}
