import { describe, expect, it } from 'vitest';
import { configOf, listOf } from '../../../crawl/plan/proxies/pool.fixture.ts';
import { ProxyPool } from '../../../crawl/plan/proxies/proxy-pool.ts';
import { parseRequest } from '../request/invalid-request.ts';
import { scrapeRequestSchema } from '../request/job-request.ts';
import { pageOptionsOf } from '../request/page-request.ts';
import { createEngineRefusal, type InstalledEngines, proxyRefusal } from './request-refusal.ts';

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

describe('a proxy of the installation', () => {
  const pool = new ProxyPool(
    configOf([listOf('near', ['de', null]), listOf('far', ['us'], 'residential')]),
    () => 0,
  );
  const toldOf = (installed: ProxyPool | null, proxy: object) => {
    const url = 'https://example.com/';
    const page = pageOptionsOf(parseRequest(scrapeRequestSchema, { url, proxy }));
    const error = proxyRefusal(page, installed);
    return error === null
      ? null
      : [error.code, ...(error.details as { field: string }[]).map(({ field }) => field)];
  };

  it.each([
    [{ country: 'de' }, 'proxy.country'],
    [{ tier: 'mobile' }, 'proxy.tier'],
    [{ tier: 'mobile', country: 'de' }, 'proxy.tier'],
  ])('%j is refused where none is set up', (proxy, field) => {
    expect(toldOf(null, proxy)).toEqual(['UNSUPPORTED_OPTION', field]);
  });

  it.each([
    [{ country: 'fr' }, 'proxy.country'],
    [{ tier: 'mobile' }, 'proxy.tier'],
    [{ tier: 'residential', country: 'de' }, 'proxy.country'],
    [{ country: 'us', maxTier: 'datacenter' }, 'proxy.country'],
  ])('%j is refused where no proxy fits', (proxy, field) => {
    expect(toldOf(pool, proxy)).toEqual(['UNSUPPORTED_OPTION', field]);
  });

  it.each([{ country: 'us' }, { tier: 'datacenter', country: 'de' }, { maxTier: 'datacenter' }])(
    '%j is taken where one fits',
    (proxy) => expect(toldOf(pool, proxy)).toBeNull(),
  );

  it('is not missed where the caller brings one, or only sets a ceiling', () => {
    expect(toldOf(null, { url: 'http://proxy.example:8080' })).toBeNull();
    expect(toldOf(null, { maxTier: 'datacenter' })).toBeNull();
  });

  it('above the ceiling is none', () => {
    const dear = new ProxyPool(configOf([listOf('far', ['us'], 'mobile')]), () => 0);
    expect(toldOf(dear, { country: 'us', maxTier: 'datacenter' })).toEqual([
      'UNSUPPORTED_OPTION',
      'proxy.maxTier',
    ]);
  });
});
