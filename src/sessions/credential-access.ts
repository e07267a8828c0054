import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { JobOptions } from '../model/job.ts';

/**
 * Whether a job may fetch pages in a session that has credentials. Throws FORBIDDEN, which names the scope that the key
 * of the job lacks: one to use credentials, and one to run scripts of the caller's on such pages, because a script can
 * read what was typed and what the site has set, and write it anywhere on the page.
 */
export function requireCredentialAccess(options: JobOptions): void {
  const { credentials = 'use' } = options;
  if (credentials === 'none') {
    throw new ScrapifieError(
      'FORBIDDEN',
      'The session logs in with stored credentials: the API key needs the scope "credentials".',
    );
  }
  if (credentials === 'use' && hasScript(options)) {
    throw new ScrapifieError(
      'FORBIDDEN',
      'evaluate could read stored credentials in this session: the API key needs the scope "credentials:read".',
    );
  }
}

/** Whether there are sessions that the job may not use. */
export const isLimited = (options: JobOptions): boolean =>
  options.credentials === 'none' || (options.credentials !== 'read' && hasScript(options));

const hasScript = ({ page }: JobOptions): boolean =>
  page.render?.actions?.some(({ type }) => type === 'evaluate') ?? false;
