import { expect, onTestFinished, test, vi } from 'vitest';
import { signalPart } from '../../src/fetch/browser/pool/process-faults.fixture.ts';
import { openWorld, QUICK_POLICY } from './world.ts';

const LIMIT_MS = 180_000;

test(
  'a browser whose zygotes are killed costs no URL an attempt: all of a healthy site are done, each tried once',
  async () => {
    const world = await openWorld({
      site: { pages: 30 },
      policy: QUICK_POLICY,
      settings: { browserPages: 3 },
    });
    onTestFinished(() => world.close());
    const { platform } = world;
    const hosts = [1, 2, 3].map((host) => world.site.hostUrl(host));
    const urls = hosts.flatMap((host) => Array.from({ length: 6 }, (_, page) => `${host}/big/${page + 1}`));
    await world.batchNow({ urls: hosts.map((host) => `${host}/big/9`), options: { engine: 'browser' } });
    const job = await world.batch({ urls, options: { engine: 'browser', maxAttempts: 1 } });
    expect(await signalPart([process.pid], 'zygote', 'SIGKILL')).not.toEqual([]);
    const ended = await vi.waitFor(
      async () => {
        const seen = await world.look(job);
        expect(seen.counters.open).toBe(0);
        return seen;
      },
      { timeout: LIMIT_MS, interval: 200 },
    );
    expect(ended.status).toBe('completed');
    const ledger = await world.ledger(job);
    expect(ledger.map(({ decision, errorCode }) => [decision, errorCode])).toEqual(
      urls.map(() => ['fetched', null]),
    );
    const codes = ledger.flatMap(({ attempts }) => attempts.flatMap(({ errorCode }) => errorCode ?? []));
    expect(codes.filter((code) => code !== 'BROWSER_LOST')).toEqual([]);
    expect((await platform.browserHealth?.())?.state).toBe('ok');
    const metrics = await world.metrics.render();
    expect(metrics).toMatch(/scrapifie_browser_replacements_total\{reason="(?:unresponsive|ended)"\} [1-9]/);
  },
  LIMIT_MS,
);
