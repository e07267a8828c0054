import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { ApiKey, KeyScope } from '../../core/ports/key-store.ts';

/** What each scope is for, in the order in which scopes are shown. */
export const SCOPE_MEANINGS: Readonly<Record<KeyScope, string>> = {
  scrape: 'scrape, map and extract one page',
  'jobs:read': 'read jobs and what they brought',
  'jobs:write': 'create and change jobs and sessions',
  exports: 'export jobs, and read and delete exports',
  schedules: 'create, read and change schedules',
  webhooks: 'create, read and change webhooks',
  read: 'the same as jobs:read, and extract',
  write: 'all of the above',
  credentials: 'use sessions that log in with stored credentials',
  'credentials:read': 'also see what pages show of them',
  admin:
    'everything in the account but credentials:read; in the account "default" also what belongs to the whole installation',
};

export const SCOPES = Object.keys(SCOPE_MEANINGS) as [KeyScope, ...KeyScope[]];
export const scopeSchema = z.enum(SCOPES).meta({ id: 'KeyScope' });

/** For fields and options: each scope with its meaning. */
export const SCOPE_LIST = SCOPES.map((scope) => `${scope}: ${SCOPE_MEANINGS[scope]}.`).join(' ');

/** Which other scopes a scope includes. */
const INCLUDED: Readonly<Partial<Record<KeyScope, readonly KeyScope[]>>> = {
  read: ['jobs:read'],
  write: ['read', 'scrape', 'jobs:read', 'jobs:write', 'exports', 'schedules', 'webhooks'],
  'credentials:read': ['credentials'],
  // Pages that show what stored credentials give access to are for keys that name the scope.
  admin: SCOPES.filter((scope) => scope !== 'credentials:read'),
};

export function allows(scopes: readonly KeyScope[], needed: KeyScope): boolean {
  return scopes.some((scope) => scope === needed || INCLUDED[scope]?.includes(needed) === true);
}

/**
 * The keys that may call a route: those with any one of some scopes, or
 *
 * `open`         everyone
 * `key`          every valid key
 * `operator`     keys with the scope admin of the account "default": changes to the whole installation, and all accounts
 * `installation` keys with the scope jobs:read of the account "default": figures about the whole installation
 * `metrics`      as `installation`, the key of the metrics, and everyone at the addresses of the settings
 */
export type Access =
  | KeyScope
  | readonly KeyScope[]
  | 'open'
  | 'key'
  | 'operator'
  | 'installation'
  | 'metrics';

/** Why the key may not call a route with this access; null when it may. */
export function refusalOf(
  key: Pick<ApiKey, 'accountId' | 'scopes'>,
  access: Exclude<Access, 'open'>,
): string | null {
  if (access === 'key') return null;
  if (access === 'operator' || access === 'installation' || access === 'metrics') {
    const needed = access === 'operator' ? 'admin' : 'jobs:read';
    return key.accountId === DEFAULT_ACCOUNT && allows(key.scopes, needed)
      ? null
      : `This call needs a key of the account "${DEFAULT_ACCOUNT}" with the scope "${needed}".`;
  }
  const anyOf = typeof access === 'string' ? [access] : access;
  if (anyOf.some((scope) => allows(key.scopes, scope))) return null;
  return `This API key lacks the scope ${anyOf.map((scope) => `"${scope}"`).join(' or ')}.`;
}

/** The names that OpenAPI shows: scopes of which one is needed, or the kind of access. */
export const accessNames = (access: Access): readonly string[] =>
  typeof access === 'string' ? [access] : access;

/** Pages of a job that could read stored credentials are for keys that may read them, too. */
export function requireReadable(key: ApiKey, job: Pick<Job, 'options'>): void {
  if (isReadable(key, job)) return;
  throw new ScrapifieError(
    'FORBIDDEN',
    'The job may show what stored credentials give access to: this API key lacks the scope "credentials:read".',
  );
}

/** Whether the key may see the pages of the job. */
export function isReadable(key: ApiKey, { options }: Pick<Job, 'options'>): boolean {
  const isPrivate = options.credentials === 'read' && options.page.session !== null;
  return !isPrivate || allows(key.scopes, 'credentials:read');
}
