import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { FileProblem } from '../../../core/config/yaml-file.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { exitCredentials, type GatewayProvider } from './proxy-config.ts';
import { parseProxyFile, withListedProxies } from './proxy-file.ts';

const FULL = `
cooldownMs: 1000
checkUrl: https://check.example/ok
checkEveryMs: 5000
providers:
  - kind: brightdata
    tier: residential
    customer: hl_1234
    zone: resi1
    password: s3cret
  - kind: oxylabs
    tier: residential
    endpoint: https://pr.oxylabs.io:7777
    username: customer-acme
    password: "12345"
    exits: 5
    sessionMinutes: 30
    countries: [DE, us]
  - kind: smartproxy
    name: decodo
    tier: mobile
    username: sp42
    password: s3cret
  - kind: list
    name: office
    tier: datacenter
    privateNetwork: true
    proxies:
      - http://u:p%40ss@10.0.0.1:3128
      - { url: "socks5://[2001:db8::1]", country: FR }
      - https://proxy.example
`;

function failureOf(text: string): ScrapifieError {
  try {
    parseProxyFile(text, 'p.yaml');
  } catch (error) {
    if (error instanceof ScrapifieError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
const problemsOf = (text: string) => failureOf(text).details as readonly FileProblem[];
const list = (...lines: string[]) =>
  [
    'providers:',
    '  - kind: list',
    '    tier: datacenter',
    '    proxies:',
    ...lines.map((line) => `      - ${line}`),
  ].join('\n');

describe('a proxy file', () => {
  it('is read with every field', () => {
    const config = parseProxyFile(FULL);
    expect(config).toMatchObject({
      cooldownMs: 1_000,
      checkUrl: 'https://check.example/ok',
      checkEveryMs: 5_000,
    });
    expect(
      config.providers.map(({ name, tier, isPrivateAllowed }) => [name, tier, isPrivateAllowed]),
    ).toEqual([
      ['brightdata', 'residential', false],
      ['oxylabs', 'residential', false],
      ['decodo', 'mobile', false],
      ['office', 'datacenter', true],
    ]);
    expect(config.providers[0]).toMatchObject({
      host: 'brd.superproxy.io',
      port: 33_335,
      exits: 32,
      countries: null,
    });
    expect(config.providers[1]).toMatchObject({
      protocol: 'https',
      exits: 5,
      sessionMinutes: 30,
      countries: ['de', 'us'],
    });
    const office = config.providers[3];
    if (office?.kind !== 'list') throw new Error('not a list');
    expect(
      office.proxies.map(({ protocol, host, port, country }) => [protocol, host, port, country]),
    ).toEqual([
      ['http', '10.0.0.1', 3_128, null],
      ['socks5', '2001:db8::1', 1_080, 'fr'],
      ['https', 'proxy.example', 443, null],
    ]);
    expect(office.proxies[0]?.credentials?.password).toBe('p@ss');
  });

  it('has defaults for what it does not say', () => {
    expect(parseProxyFile(list('http://a.example'))).toMatchObject({
      cooldownMs: 30_000,
      checkUrl: null,
      checkEveryMs: 60_000,
      selection: 'first',
    });
  });

  it('may be left out, or followed, by a list of the environment', () => {
    expect(withListedProxies(null, ' , ')).toBeNull();
    const listed = withListedProxies(null, 'http://u:s3cret@a.example:1, socks5://b.example');
    expect(listed).toMatchObject({
      cooldownMs: 30_000,
      checkUrl: null,
      providers: [
        {
          kind: 'list',
          name: 'environment',
          tier: 'datacenter',
          proxies: [{ host: 'a.example' }, { protocol: 'socks5', port: 1_080 }],
        },
      ],
    });
    expect(JSON.stringify(listed)).not.toContain('s3cret');
    const file = parseProxyFile(FULL);
    const both = withListedProxies(file, 'http://a.example');
    expect(both?.providers.map(({ name }) => name)).toEqual([
      ...file.providers.map(({ name }) => name),
      'environment',
    ]);
    expect(both?.checkUrl).toBe('https://check.example/ok');
    const wrong = () => withListedProxies(null, 'http://a.example, ftp://u:s3cret@b.example');
    expect(wrong).toThrow(/SCRAPIFIE_PROXIES: the proxy number 2 must begin with/);
    expect(wrong).not.toThrow(/s3cret/);
  });

  it('shows no login to whoever prints it', () => {
    const config = parseProxyFile(FULL);
    expect(inspect(config, { depth: 9, showHidden: true }) + JSON.stringify(config)).not.toMatch(
      /s3cret|12345|p@ss|hl_1234|sp42/,
    );
  });

  it.each([
    ['no kind of provider', 'providers:\n  - kind: other', 2, 'providers.0.kind'],
    ['a wrong tier', list('http://a').replace('datacenter', 'cheap'), 3, 'providers.0.tier'],
    ['an unknown field', `${list('http://a')}\nfoo: 1`, 6, 'foo'],
    ['no proxies', 'providers:\n  - kind: list\n    tier: mobile', 2, 'providers.0.proxies'],
    ['a scheme nobody speaks', list('http://a', 'ftp://a'), 6, 'providers.0.proxies.1'],
    ['a path', list('http://a/b'), 5, 'providers.0.proxies.0'],
    ['an unknown country', list('{ url: "http://a", country: xx }'), 5, 'providers.0.proxies.0.country'],
    [
      'a password without quotes that is a number',
      FULL.replace('"12345"', '12345'),
      15,
      'providers.1.password',
    ],
    [
      'a login where none belongs',
      FULL.replace('https://pr.', 'https://u:p@pr.'),
      13,
      'providers.1.endpoint',
    ],
    ['two providers of one name', FULL.replace('name: decodo', 'name: oxylabs'), 19, 'providers.2'],
    ['a check that is no URL', `${list('http://a')}\ncheckUrl: nowhere`, 6, 'checkUrl'],
  ])('is refused for %s, with the line', (_what, text, line, at) => {
    expect(problemsOf(text)).toMatchObject([{ line, at }]);
  });

  it('is refused with all its problems at once', () => {
    expect(problemsOf(list('ftp://a', 'http://', '{ url: 5 }')).map(({ line }) => line)).toEqual([5, 6, 7]);
  });

  it.each([
    list('http://someone:hush/hush@a.example:80'),
    list('ftp://someone:hush@a.example'),
    list('http://someone:hush%zz@a.example'),
    list('"http://someone:hush@a.example": 1'),
    list(`socks5://someone:${'hush'.repeat(99)}@a.example`),
    FULL.replace('s3cret', '*hush'),
    FULL.replace('s3cret', '!hush'),
    FULL.replace('s3cret', '@hush'),
    FULL.replace('s3cret', '[hush'),
    FULL.replace('s3cret', 'hush: hush'),
    FULL.replace('password: s3cret', 'pass-hush: x'),
    FULL.replace('customer: hl_1234', 'customer: hu sh'),
  ])('never repeats a secret in its problems (%#)', (text) => {
    const failure = failureOf(text);
    expect(failure.message + JSON.stringify(failure)).not.toMatch(/hush|someone|hu sh/);
    expect(failure.message).toContain('p.yaml');
  });
});

describe('a gateway is told country and session by the user name', () => {
  const [brightdata, oxylabs, smartproxy] = parseProxyFile(FULL).providers as readonly GatewayProvider[];
  const usernameOf = (
    provider: GatewayProvider | undefined,
    country: string | null,
    sessionId: string | null = null,
  ) => (provider === undefined ? '' : exitCredentials(provider, { slot: 3, country, sessionId }).username);

  it('in the way of each company', () => {
    expect(usernameOf(brightdata, 'us')).toMatch(
      /^brd-customer-hl_1234-zone-resi1-country-us-session-[0-9a-f]{16}$/,
    );
    expect(usernameOf(oxylabs, 'us')).toMatch(/^customer-acme-cc-US-sessid-[0-9a-f]{16}-sesstime-30$/);
    expect(usernameOf(smartproxy, 'us')).toMatch(
      /^user-sp42-country-us-session-[0-9a-f]{16}-sessionduration-10$/,
    );
    expect(usernameOf(oxylabs, null)).toMatch(/^customer-acme-sessid-/);
  });

  it('which is the same each time, and different for each session', () => {
    expect(usernameOf(oxylabs, 'de', 'a-b')).toBe(usernameOf(oxylabs, 'de', 'a-b'));
    expect(new Set([null, 'a', 'a-b', ''].map((id) => usernameOf(oxylabs, 'de', id))).size).toBe(4);
  });
});
