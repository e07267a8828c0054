import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Job } from '../../core/model/job.ts';
import type { ApiKey } from '../../core/ports/key-store.ts';
import { allows } from './scopes.ts';

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
