import { missingOfFleet } from '../core/config/setting-conflicts.ts';
import { environmentName, type Role } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';

/** What a process does, by its role. */
export interface Duties {
  /** Answers the API; every role answers the questions about its own health. */
  readonly api: boolean;
  /** Owns hosts and fetches their pages. */
  readonly crawl: boolean;
  /** What goes on beside requests and crawls: ends of jobs, lost offers, schedules, webhooks, exports, readers, backups, cleanups. */
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

/** Refuses settings that cannot be right together. */
export function refuseIncompleteFleet(settings: Parameters<typeof missingOfFleet>[0]): void {
  const missing = missingOfFleet(settings);
  if (missing.length === 0) return;
  const told = missing.map(({ name, problem }) => `${environmentName(name)} ${problem}`).join('; ');
  throw new ScrapifieError('INVALID_SETTINGS', `${told}.`, {
    details: missing,
  });
}
