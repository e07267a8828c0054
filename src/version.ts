import { readFileSync } from 'node:fs';

/** The package's own version; the same file serves the sources and the build. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
