import { describe, expect, it } from 'vitest';
import { parseRequest } from '../request/invalid-request.ts';
import { scrapeRequestSchema } from '../request/job-request.ts';
import { pageOptionsOf } from '../request/page-request.ts';
import { createEngineRefusal, type InstalledEngines } from './request-refusal.ts';

type Installed = NonNullable<ReturnType<InstalledEngines>>;
const HTTP: Installed[number] = { name: 'http', abilities: ['proxies'] };
const SOLVER: Installed[number] = { name: 'flaresolverr', abilities: ['javascript'] };
const BROWSER: Installed[number] = {
  name: 'browser',
  abilities: ['javascript', 'screenshots', 'actions', 'pdf', 'xhr', 'proxies'],
};
const STEALTH: Installed[number] = { ...BROWSER, name: 'stealth' };

const refusal = (installed: Installed | null, given: object) => {
  const url = 'https://example.com/';
  return createEngineRefusal(() => installed)(
    pageOptionsOf(parseRequest(scrapeRequestSchema, { url, ...given })),
  );
};
const told = (installed: Installed, given: object) => {
  const error = refusal(installed, given);
  const fields = (error?.details ?? []) as { field: string }[];
  return [error?.code ?? null, fields.map(({ field }) => field)];
};

describe('an installation', () => {
  it.each<[string, object, string, string[]]>([
    ['no browser', { engine: 'browser' }, 'NO_BROWSER', ['engine']],
    ['no browser', { engine: 'stealth' }, 'NO_BROWSER', ['engine']],
    ['no browser', { wait: { ms: 1 } }, 'NO_BROWSER', ['wait']],
    ['no browser', { formats: ['pdf'] }, 'NO_BROWSER', ['formats']],
    ['no browser', { mobile: true }, 'NO_BROWSER', ['viewport']],
    ['no browser', { actions: [{ type: 'press', key: 'a' }] }, 'NO_BROWSER', ['actions']],
    ['no FlareSolverr', { engine: 'flaresolverr' }, 'UNSUPPORTED_OPTION', ['engine']],
    ['nobody to look like', { identity: 'browser' }, 'UNSUPPORTED_OPTION', ['identity']],
  ])('with %s refuses %j', (_, given, code, fields) => {
    expect(told([HTTP], given)).toEqual([code, fields]);
  });

  it('refuses what the named engine cannot do', () => {
    const engines = [HTTP, BROWSER, SOLVER];
    expect(told(engines, { engine: 'flaresolverr', screenshot: {} })).toEqual([
      'UNSUPPORTED_OPTION',
      ['screenshot'],
    ]);
    expect(told(engines, { engine: 'flaresolverr', proxy: { country: 'de' } })).toEqual([
      'UNSUPPORTED_OPTION',
      ['proxy'],
    ]);
    expect(told(engines, { engine: 'stealth' })).toEqual(['UNSUPPORTED_OPTION', ['engine']]);
  });

  it.each([
    {},
    { engine: 'http' },
    { engine: 'browser', screenshot: { fullPage: true } },
    { engine: 'stealth', identity: 'browser' },
    { actions: [{ type: 'press', key: 'a' }], proxy: { tier: 'mobile' } },
    { identity: 'browser' },
    { blockResources: ['images'] },
  ])('takes %j when it has everything', (given) => {
    expect(refusal([HTTP, BROWSER, STEALTH], given)).toBeNull();
  });

  it('whose workers come and go refuses nothing', () => {
    expect(refusal(null, { engine: 'stealth', screenshot: {} })).toBeNull();
  });
});
