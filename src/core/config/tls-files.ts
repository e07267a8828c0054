import { readFileSync } from 'node:fs';

/** Parameters of server URLs that name PEM files: authorities to trust, our certificate, and its key. */
export const TLS_FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'] as const;

/** The first parameter whose file cannot be read, as the end of a sentence; null when all can be. Names no values. */
export function tlsFileProblem(parameters: URLSearchParams): string | null {
  for (const name of TLS_FILE_PARAMETERS) {
    const file = parameters.get(name);
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
