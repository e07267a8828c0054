import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { FileProblem } from '../../core/config/yaml-file.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../core/model/ids.ts';
import { loadPolicyFile, parsePolicyFile } from './policy-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));
const shipped = new URL('../../../policies/default.yaml', import.meta.url).pathname;
const key = (text: string) => text as HostKey;

function failureOf(run: () => unknown): ScrapifieError {
  try {
    run();
  } catch (error) {
    if (error instanceof ScrapifieError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function problemsOf(text: string): readonly FileProblem[] {
  const error = failureOf(() => parsePolicyFile(text, 'p.yaml'));
  expect(error.code).toBe('INVALID_POLICY');
  return error.details as readonly FileProblem[];
}

describe('a policy file', () => {
  it('is read with every field', () => {
    const text = `
default: { rate: unlimited, burst: 2 }
domains:
  Example.com:
    rate: 0.5
    burst: 3
    concurrency: 4
    delayMs: 500
    maxCrawlDelayMs: 20000
    allowedHours: { from: 22:00, to: 06:00, timeZone: Europe/Berlin, days: [mon, 5] }
    robots: ignore
    engines: [http, stealth]
    slowDownMs: 5000
    actionPauseMs: { min: 100, max: 900 }
    proxyTier: residential
    maxProxyTier: residential
    deny: true
    notes: slow
    consent: [robots, stealth]
  localhost:8080:
denyList: [Bad.example]
allowList: ["*.good.example"]
`;
    const file = parsePolicyFile(text, 'p.yaml');
    expect(file.default).toEqual({ ratePerSecond: null, burst: 2 });
    expect(Object.fromEntries(file.domains)).toEqual({
      'example.com': {
        ratePerSecond: 0.5,
        burst: 3,
        concurrency: 4,
        minDelayMs: 500,
        maxCrawlDelayMs: 20_000,
        allowedHours: { from: '22:00', to: '06:00', timeZone: 'Europe/Berlin', days: [1, 5] },
        robots: 'ignore',
        engines: ['http', 'stealth'],
        slowDownMs: 5_000,
        actionPauseMs: { min: 100, max: 900 },
        proxyTier: 'residential',
        maxProxyTier: 'residential',
        deny: true,
        notes: 'slow',
        consent: ['robots', 'stealth'],
      },
      'localhost:8080': {},
    });
    expect(file.denyList).toEqual(['bad.example']);
    expect(file.allowList).toEqual(['*.good.example']);
  });

  it.each(['', '# nothing yet\n', 'default:\ndomains:\n', '{}'])('may say nothing: %j', (text) => {
    expect(parsePolicyFile(text, 'p.yaml')).toMatchObject({ default: {}, denyList: [], allowList: null });
  });

  it('as shipped is valid and slows linkedin.com and indeed.com down', () => {
    const policies = loadPolicyFile(shipped);
    expect(policies.policyFor(key('example.com'))).toMatchObject({
      ratePerSecond: 2,
      concurrency: 2,
      robots: 'obey',
    });
    for (const host of ['www.linkedin.com', 'de.indeed.com']) {
      const policy = policies.policyFor(key(host));
      expect(policy.concurrency).toBe(1);
      expect(policy.ratePerSecond).toBeLessThan(1);
      expect(policy.allowedHours).not.toBeNull();
      expect(policies.denied(key(host))).toBeNull();
    }
  });
});

describe('a wrong policy file', () => {
  it.each([
    ['an unknown field', 'default:\n  rate: 2\n  rat: 3\n', 3, 'default.rat', /not a known field/],
    ['an unknown section', 'default: {}\ndomain: {}\n', 2, 'domain', /not a known field/],
    ['a rate of zero', 'default:\n  rate: 0\n', 2, 'default.rate', /unlimited/],
    ['a rate in words', 'domains:\n  a.com:\n    rate: fast\n', 3, 'domains.a.com.rate', /unlimited/],
    [
      'half a connection',
      'default:\n  concurrency: 0.5\n',
      2,
      'default.concurrency',
      /^must be a whole number$/,
    ],
    [
      'robots ignored without consent',
      'domains:\n  a.com:\n    notes: x\n    robots: ignore\n',
      4,
      'domains.a.com.robots',
      /consent: \[robots\]/,
    ],
    [
      'stealth without consent',
      'domains:\n  a.com:\n    engines: [stealth]\n    consent: [robots]\n',
      3,
      'domains.a.com.engines',
      /consent: \[stealth\]/,
    ],
    ['robots ignored by default', 'default:\n  robots: ignore\n', 2, 'default.robots', /only a domain/],
    ['consent by default', 'default:\n  consent: [robots]\n', 2, 'default.consent', /not a known field/],
    [
      'an unknown consent',
      'domains:\n  a.com:\n    consent:\n      - robots\n      - all\n',
      5,
      'domains.a.com.consent.1',
      /robots/,
    ],
    [
      'an unknown time zone',
      'default:\n  allowedHours:\n    { from: 08:00, to: 09:00, timeZone: Mars/X }\n',
      2,
      'default.allowedHours',
      /time zone Mars\/X/,
    ],
    [
      'hours without an end',
      'default:\n  allowedHours: { from: 08:00, timeZone: UTC }\n',
      2,
      'default.allowedHours.to',
      /^is required$/,
    ],
    [
      'an unknown day',
      'default:\n  allowedHours: { from: 08:00, to: 09:00, timeZone: UTC, days: [someday] }\n',
      2,
      'default.allowedHours.days.0',
      /sun, mon/,
    ],
    [
      'a host that is none',
      'domains:\n  a.com: {}\n  "https://b.com/": {}\n',
      3,
      'domains.https://b.com/',
      /must be a host/,
    ],
    ['a host that is none in a list', 'denyList:\n  - a.com\n  - "*"\n', 3, 'denyList.1', /must be a host/],
    [
      'the same host in two spellings',
      'domains:\n  a.com: {}\n  A.com: {}\n',
      3,
      'domains.A.com',
      /same host as a.com/,
    ],
    ['a list instead of a map', 'domains: [a.com]\n', 1, 'domains', /^must be an object$/],
    ['a scalar instead of a file', 'hello\n', 1, '', /object/],
    ['a key given twice', 'default:\n  rate: 1\n  rate: 2\n', 3, '', /unique/],
    ['YAML that does not parse', 'default:\n  rate: [1\ndomains: {}\n', 3, '', /./],
    ['two documents', 'default: {}\n---\ndefault: {}\n', 2, '', /document/],
  ])('with %s is refused at its line', (_claim, text, line, at, problem) => {
    const [first] = problemsOf(text);
    expect(first).toMatchObject({ line, at });
    expect(first?.problem).toMatch(problem);
  });

  it('is told all its problems at once', () => {
    const error = failureOf(() => parsePolicyFile('default:\n  rate: 0\n  burst: 0\nx: 1\n', 'p.yaml'));
    expect((error.details as FileProblem[]).map(({ line }) => line).sort()).toEqual([2, 3, 4]);
    expect(error.message).toMatch(/p\.yaml.*line 2.*line 3.*line 4/);
  });

  it('that unfolds into far more than it is, is refused', () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(', ')}]`,
    );
    expect(problemsOf(`a0: &a0 [x]\n${levels.join('\n')}\n`)).toHaveLength(1);
  });

  it('that is huge is refused', () => {
    expect(problemsOf(`# ${'x'.repeat(5_000_000)}`)[0]?.problem).toMatch(/larger/);
  });

  it('that cannot be read is refused with the reason', () => {
    const missing = failureOf(() => loadPolicyFile(join(folder, 'missing.yaml')));
    expect(missing.code).toBe('INVALID_POLICY');
    expect(missing.message).toMatch(/missing\.yaml.*ENOENT/);
    expect(failureOf(() => loadPolicyFile(folder)).message).toMatch(/EISDIR/);
    writeFileSync(join(folder, 'binary.yaml'), Buffer.from([0, 1, 2, 255, 254, 10, 58]));
    expect(failureOf(() => loadPolicyFile(join(folder, 'binary.yaml'))).code).toBe('INVALID_POLICY');
  });
});
