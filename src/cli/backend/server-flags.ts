import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Options of the command line that a server decides by its own settings and policy. */
const OF_THE_OPERATOR = {
  allowPrivate: '--allow-private',
  rate: '--rate',
  replay: '--replay',
  warc: '--warc',
} as const;

/** Throws INVALID_USAGE for options that a request to a server cannot carry: they are not silently left out. */
export function refuseForServer(flags: object): void {
  for (const [name, flag] of Object.entries(OF_THE_OPERATOR)) {
    if ((flags as Record<string, unknown>)[name] === undefined) continue;
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${flag} cannot be asked of a server: its own settings and policy decide that. Leave it out, or work without --api.`,
    );
  }
}
