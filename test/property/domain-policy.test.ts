import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { HostKey } from '../../src/core/model/ids.ts';
import { buildPolicies, DEFAULT_POLICY } from '../../src/crawl/policy/policies.ts';
import { parsePolicyFile } from '../../src/crawl/policy/policy-file.ts';
import { gate } from '../../src/crawl/politeness/gate.ts';
import { newHostState } from '../../src/crawl/politeness/host-state.ts';
import { isOpen, nextOpening } from '../../src/crawl/politeness/hours.ts';

const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Apia',
  'Africa/Casablanca',
);
const days = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { maxLength: 7 });
const windows = fc.record({ from: clock, to: clock, timeZone: zone, days });

describe('property 23: a policy file', () => {
  const entry = fc.record(
    {
      rate: fc.oneof(fc.constant('unlimited'), fc.double({ min: 0.001, max: 1_000, noNaN: true })),
      burst: fc.integer({ min: 1, max: 1_000 }),
      concurrency: fc.integer({ min: 1, max: 1_000 }),
      delayMs: fc.integer({ min: 0, max: 3_600_000 }),
      maxCrawlDelayMs: fc.integer({ min: 0, max: 86_400_000 }),
      allowedHours: fc.option(windows),
      engines: fc.uniqueArray(fc.constantFrom('http', 'browser'), { minLength: 1 }),
      proxyTier: fc.option(fc.constantFrom('datacenter', 'residential')),
      maxProxyTier: fc.option(fc.constantFrom('datacenter', 'residential')),
      slowDownMs: fc.integer({ min: 1_000, max: 900_000 }),
      deny: fc.boolean(),
      notes: fc.string(),
    },
    { requiredKeys: [] },
  );
  const withConsent = fc.oneof(
    entry,
    entry.map((fields) => ({ ...fields, robots: 'ignore', consent: ['robots', 'captcha'] })),
    entry.map((fields) => ({
      ...fields,
      robots: 'obey',
      consent: ['stealth'],
      engines: ['http', 'stealth'],
    })),
  );
  const host = fc.oneof(
    fc.domain(),
    fc.domain().map((name) => `*.${name}`),
    fc.integer({ min: 1, max: 65_535 }).map((port) => `localhost:${port}`),
  );
  const content = fc.record(
    {
      default: entry,
      domains: fc.dictionary(host, withConsent, { maxKeys: 6 }),
      denyList: fc.array(host, { maxLength: 4 }),
      allowList: fc.array(host, { maxLength: 4 }),
    },
    { requiredKeys: [] },
  );

  /** Back to what a person would write. */
  function asWritten(file: ReturnType<typeof parsePolicyFile>): unknown {
    const entryAsWritten = ({ ratePerSecond, minDelayMs, ...same }: typeof file.default) => ({
      ...same,
      ...(ratePerSecond === undefined ? {} : { rate: ratePerSecond ?? 'unlimited' }),
      ...(minDelayMs === undefined ? {} : { delayMs: minDelayMs }),
    });
    return {
      default: entryAsWritten(file.default),
      domains: Object.fromEntries([...file.domains].map(([name, each]) => [name, entryAsWritten(each)])),
      denyList: file.denyList,
      ...(file.allowList === null ? {} : { allowList: file.allowList }),
    };
  }

  it('means the same after it was read, written and read again', () => {
    fc.assert(
      fc.property(content, (written) => {
        const once = parsePolicyFile(stringify(written), 'once');
        expect(parsePolicyFile(stringify(asWritten(once)), 'twice')).toEqual(once);
        expect(asWritten(once)).toEqual({
          default: {},
          domains: {},
          denyList: [],
          ...parse(stringify(written)),
        });
      }),
    );
  });

  it('gives every host a policy, which ignores robots only where an entry consents', () => {
    fc.assert(
      fc.property(content, fc.domain(), (written, name) => {
        const policies = buildPolicies(parsePolicyFile(stringify(written), 'x'));
        for (const host of [name, `a.${name}`, ...Object.keys(written.domains ?? {})]) {
          const policy = policies.policyFor(host.replace('*.', 'sub.') as HostKey);
          expect(policy.concurrency).toBeGreaterThanOrEqual(1);
          expect(policy.robots === 'obey' || policy.consent.includes('robots')).toBe(true);
          expect(!policy.engines.includes('stealth') || policy.consent.includes('stealth')).toBe(true);
        }
      }),
    );
  });

  it('never makes the reader fail otherwise than with INVALID_POLICY', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json(), fc.string({ unit: fc.constantFrom(...'a:-[]{}&*#|>\n ') })),
        (text) => {
          try {
            parsePolicyFile(text, 'x');
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_POLICY' });
          }
        },
      ),
    );
  });
});

describe('property 24: allowed hours', () => {
  const moments = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) });

  /** What a person with a calendar of that zone would say. */
  function isOpenByCalendar(
    window: { from: string; to: string; timeZone: string; days: number[] },
    now: number,
  ) {
    const read = (at: number) => {
      const text = new Intl.DateTimeFormat('en-GB', {
        timeZone: window.timeZone,
        weekday: 'short',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      }).formatToParts(at);
      const part = (type: string) => text.find((each) => each.type === type)?.value ?? '';
      const weekday = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(part('weekday'));
      return { weekday, time: `${part('hour')}:${part('minute')}` };
    };
    const { weekday, time } = read(now);
    const isOn = (day: number) => window.days.length === 0 || window.days.includes(day);
    if (window.from < window.to) return time >= window.from && time < window.to && isOn(weekday);
    return time >= window.from ? isOn(weekday) : time < window.to && isOn((weekday + 6) % 7);
  }

  it('are open exactly when the clock on the wall says so', () => {
    fc.assert(
      fc.property(windows, moments, (window, now) => {
        expect(isOpen(window, now)).toBe(isOpenByCalendar(window, now));
      }),
      { numRuns: 500 },
    );
  });

  it('open next at a moment that is open, with none before it, within eight days', () => {
    fc.assert(
      fc.property(
        windows,
        moments,
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (window, now, parts) => {
          const opening = nextOpening(window, now);
          expect(opening).toBeGreaterThanOrEqual(now);
          // A window within the hour that summer time skips may lose its one day: then it is the week after.
          expect(opening - now).toBeLessThanOrEqual(15 * 86_400_000);
          expect(isOpen(window, opening)).toBe(true);
          if (opening === now) return;
          expect(isOpen(window, opening - 1)).toBe(false);
          for (const part of parts) expect(isOpen(window, now + part * (opening - now - 1))).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('decide whether the gate lets a request go', () => {
    fc.assert(
      fc.property(windows, moments, (allowedHours, now) => {
        const input = { now, inFlight: 0, crawlDelayMs: null, rateOverride: null };
        const decision = gate(newHostState(now), { ...DEFAULT_POLICY, allowedHours }, input);
        expect(decision.kind).toBe(isOpen(allowedHours, now) ? 'go' : 'hold');
      }),
    );
  });
});
