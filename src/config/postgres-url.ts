import { readFileSync } from 'node:fs';

/** Parameters that name files, which are read when the first connection is planned. */
const FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'];

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
  for (const name of FILE_PARAMETERS) {
    const file = url.searchParams.get(name);
    const code = file === null || file === '' ? null : whyUnreadable(file);
    if (code !== null) return `names a file that cannot be read (${name}, ${code})`;
  }
  return null;
}

function whyUnreadable(file: string): string | null {
  try {
    readFileSync(file);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  }
}
