import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/core/errors/registry.ts';
import { HOSTILE_PATHS, type HostileSite, startHostileSite } from '../hostile/http1-site.ts';
import { openScraper, type Scraper } from './world.ts';

const MOST_BYTES = 10_485_760;
/** What a process that reads ten hostile responses at once may need in addition. Unbounded, it is gigabytes. */
const MOST_GROWTH_BYTES = 1_000_000_000;
const LIMIT_MS = 120_000;
/** No limit but that of time ends these. They get little of it, since they keep the processor from all others. */
const UNTIL_TIMEOUT = ['/chunk-extensions', '/empty-lines'];
const WITH_LIMIT = Object.keys(HOSTILE_PATHS).filter(
  (path) => !path.startsWith('/page') && !UNTIL_TIMEOUT.includes(path),
);

/**
 * One site has the responses that a limit ends, the other those that only time ends: failures of one host must not
 * hold up the other.
 */
let sites: readonly HostileSite[] = [];
let scraper: Scraper;
beforeAll(async () => {
  sites = [await startHostileSite(), await startHostileSite()];
  // All of them begin at once: none is left when failures have opened the breaker of the host.
  scraper = await openScraper({ policy: 'default: { rate: unlimited, concurrency: 32 }\n' });
});
afterAll(async () => {
  await scraper.close();
  for (const site of sites) await site.close();
});

describe('hostile responses, all of them at once', () => {
  test(
    'end in a code or a page, memory stays bounded, and everything is given back',
    async () => {
      const before = process.memoryUsage().rss;
      let most = before;
      const look = setInterval(() => {
        most = Math.max(most, process.memoryUsage().rss);
      }, 20);
      const fetchTwice = async (at: number, paths: readonly string[], timeoutMs: number) => {
        const urls = paths.flatMap((path) => [1, 2].map((n) => `${sites[at]?.origin}${path}?${n}`));
        const options = { maxBodyBytes: MOST_BYTES, timeoutMs, maxAttempts: 1 };
        return scraper.ledger(await scraper.batchNow({ urls, options }));
      };
      const [endless, limited] = await Promise.all([
        fetchTwice(0, UNTIL_TIMEOUT, 4_000),
        fetchTwice(1, WITH_LIMIT, LIMIT_MS),
      ]);
      clearInterval(look);
      expect(endless.map(({ errorCode }) => errorCode)).toEqual(Array(4).fill('TASK_TIMEOUT'));
      const entries = [...endless, ...limited];
      expect(entries).toHaveLength(Object.keys(HOSTILE_PATHS).length * 2 - 4);
      for (const { url, state, errorCode } of entries) {
        const isPage = url.includes('/tiny-chunks') && state === 'done';
        expect([url, isPage || (state === 'failed' && (errorCode ?? '') in ERRORS)]).toEqual([url, true]);
      }
      const codeOf = (path: string) => entries.find(({ url }) => url.includes(path))?.errorCode ?? null;
      expect({
        '/bomb': codeOf('/bomb'),
        '/endless-chunks': codeOf('/endless-chunks'),
        '/headers': codeOf('/headers'),
        '/trailers': codeOf('/trailers'),
      }).toEqual({
        '/bomb': 'BODY_LIMIT_EXCEEDED',
        '/endless-chunks': 'BODY_LIMIT_EXCEEDED',
        '/headers': 'HEADERS_LIMIT_EXCEEDED',
        '/trailers': 'HEADERS_LIMIT_EXCEEDED',
      });
      expect(most - before).toBeLessThan(MOST_GROWTH_BYTES);
    },
    2 * LIMIT_MS,
  );
});
