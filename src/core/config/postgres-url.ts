import { tlsFileProblem } from './tls-files.ts';

/**
 * What keeps a URL that can be parsed from being one of PostgreSQL: a stray percent sign, a certificate that cannot be
 * read. Null when nothing does. Names parameters, but no values.
 */
export function postgresUrlProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return null;
  try {
    for (const part of [url.username, url.password, url.hostname]) decodeURIComponent(part);
    decodeURI(url.pathname);
  } catch {
    return 'has a percent sign that stands for nothing; write it as %25';
  }
  const pooled = url.searchParams.get(POOLED) ?? 'false';
  if (pooled !== 'true' && pooled !== 'false') return `must say true or false for ${POOLED}`;
  return tlsFileProblem(url.searchParams);
}

const POOLED = 'pgbouncer';

/**
 * Whether the URL leads to a pooler such as PgBouncer (`?pgbouncer=true`). A pooler hands the connections of the server from
 * one client to the next, so a client can have no settings of its own: time limits are those of the database's user.
 */
export const isPooledUrl = (url: string): boolean => URL.parse(url)?.searchParams.get(POOLED) === 'true';
