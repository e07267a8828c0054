import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../hosts/policies.ts';
import type { EngineName } from '../model/attempt.ts';
import type { PageOptions } from '../model/job.ts';
import { planAttempt } from './plan.ts';

const PAGE: PageOptions = {
  engine: 'auto',
  formats: [],
  headers: {},
  cookies: {},
  method: 'GET',
  body: null,
  timeoutMs: 1_000,
  maxAttempts: 1,
  maxBodyBytes: 1_000,
  obeyRobots: true,
  render: null,
  session: null,
  proxy: null,
  identity: null,
  isInline: false,
};
const NAMES: readonly EngineName[] = ['http', 'browser', 'stealth'];
const someEngines = fc.subarray([...NAMES]);

describe('the plan of an attempt', () => {
  it('takes the cheapest engine that is installed', () => {
    expect(planAttempt(PAGE, DEFAULT_POLICY, ['http', 'browser'])).toEqual({
      kind: 'attempt',
      engine: 'http',
      reason: 'plan.cheapest',
    });
  });

  it('passes over engines that the policy leaves out', () => {
    const policy = { ...DEFAULT_POLICY, engines: ['browser'] as const };
    expect(planAttempt(PAGE, policy, ['http', 'browser'])).toMatchObject({ engine: 'browser' });
  });

  it('takes the engine that was asked for, even where a cheaper one is there', () => {
    expect(planAttempt({ ...PAGE, engine: 'browser' }, DEFAULT_POLICY, ['http', 'browser'])).toEqual({
      kind: 'attempt',
      engine: 'browser',
      reason: 'plan.requested',
    });
  });

  it('names what was asked for when there is no such engine', () => {
    expect(planAttempt({ ...PAGE, engine: 'stealth' }, DEFAULT_POLICY, ['http'])).toEqual({
      kind: 'none',
      rule: 'plan.no-engine:stealth',
    });
  });

  it('never takes an engine that is not installed, not allowed or not the one asked for', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('auto' as const, ...NAMES),
        someEngines,
        someEngines,
        (engine, engines, installed) => {
          const plan = planAttempt({ ...PAGE, engine }, { ...DEFAULT_POLICY, engines }, installed);
          const possible = installed.filter(
            (name) => engines.includes(name) && (engine === 'auto' || engine === name),
          );
          expect(plan.kind === 'none' ? undefined : plan.engine).toBe(possible[0]);
        },
      ),
    );
  });
});
