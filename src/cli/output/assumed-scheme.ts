import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';
import type { Shell } from '../shell/shell.ts';

/**
 * Says which scheme was assumed for URLs that were typed without one, such as `example.com`: the page behind
 * https:// need not be the one behind http://. URLs that cannot be fetched are passed over; the command refuses them.
 */
export function tellAssumedSchemes(shell: Shell, urls: readonly string[]): void {
  for (const typed of urls) {
    if (/^\s*https?:/i.test(typed)) continue;
    const url = parseStoredSeed(typed);
    if (url !== null) shell.stderr.write(`${typed.trim()} has no scheme; ${url.href} is fetched.\n`);
  }
}
