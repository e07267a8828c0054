import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../src/core/errors/registry.ts';
import { NASTY, type NastyCase } from '../site/nasty.ts';
import { type Site, startSite } from '../site/site.ts';
import type { NastyReport, NastyResult } from './nasty-child.ts';
import { openScraper, QUICK_POLICY } from './world.ts';

const CHILD = fileURLToPath(new URL('nasty-child.ts', import.meta.url));
const LIMIT_MS = 120_000;
let site: Site;
let report: NastyReport;
beforeAll(async () => {
  site = await startSite();
  // A process of its own: that it lives to tell is part of the claim.
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', CHILD, String(site.port)], {
    maxBuffer: 64 * 1_048_576,
    timeout: LIMIT_MS,
  });
  report = JSON.parse(stdout) as NastyReport;
}, LIMIT_MS);
afterAll(() => site.close());

const cases = NASTY.filter(({ requires }) => requires !== 'guard');

/** What the site says should come of it, of the result that came. */
function wanted({ expect: expected }: NastyCase, came: NastyResult): Partial<NastyResult> {
  const { code, otherCodes = [], ...rest } = expected;
  const isOther = came.code !== null && (otherCodes as readonly string[]).includes(came.code);
  return { ...rest, ...(code === undefined ? {} : { code: isOther ? came.code : code }) };
}

describe('every nasty page ends as it should, all of them at once', () => {
  test.each(cases.map((nasty) => ({ name: nasty.name, note: nasty.note, nasty })))(
    '$name: $note',
    ({ nasty }) => {
      const came = report.results.filter(({ name }) => name === nasty.name);
      expect(came).toHaveLength(2);
      for (const result of came) expect(result).toMatchObject(wanted(nasty, result));
    },
  );

  test('and none of them is left without an outcome', () => {
    for (const { name, state, code } of report.results) {
      expect([name, state]).toEqual([name, expect.stringMatching(/^(done|failed)$/)]);
      if (state === 'failed') expect(ERRORS).toHaveProperty(code ?? 'no code');
    }
  });
});

test('memory returns to its level after each round', () => {
  const [heapBefore = 0, heapAfter = 0] = report.heapBytes;
  const [buffersBefore = 0, buffersAfter = 0] = report.bufferBytes;
  // One body at its limit is 10 MB, and a round moves some hundred MB.
  expect(heapAfter - heapBefore).toBeLessThan(10 * 1_048_576);
  expect(buffersAfter - buffersBefore).toBeLessThan(10 * 1_048_576);
});

test('nothing but those pages failed', () => {
  // A store that is late, on a busy machine, is asked again.
  const expected = /"msg":"task failed"|The store gave no answer within/;
  expect(report.warnings.filter((line) => !expected.test(line))).toEqual([]);
});

describe('where private addresses are not allowed', () => {
  test('loopback, private and metadata addresses are refused before anything is sent', async () => {
    const scraper = await openScraper({ policy: QUICK_POLICY, settings: { allowPrivate: false } });
    const before = site.log.length;
    try {
      const urls = [
        `${site.url}/big/`,
        `http://localhost:${site.port}/big/`,
        `http://[::1]:${site.port}/big/`,
        'http://2130706433/',
        'http://10.0.0.1/',
        'http://192.168.1.1/',
        'http://169.254.169.254/latest/meta-data/',
        'http://[::ffff:10.0.0.1]/',
        'http://0.0.0.0/',
      ];
      for (const url of urls) {
        await expect(scraper.scrapeNow({ url, maxAttempts: 1 })).rejects.toMatchObject({
          code: 'ADDRESS_REFUSED',
        });
      }
      await expect(
        scraper.scrapeNow({ url: 'http://no-such-host.invalid/', maxAttempts: 1 }),
      ).rejects.toMatchObject({ code: 'DNS_FAILED' });
      const job = await scraper.batchNow({ urls });
      expect(job).toMatchObject({ status: 'failed', counters: { failed: urls.length, pages: 0 } });
      expect(site.log.length).toBe(before);
    } finally {
      await scraper.close();
    }
  });
});
