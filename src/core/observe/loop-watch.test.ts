import { describe, expect, it } from 'vitest';
import { createActivity, watchLoop } from './loop-watch.ts';

describe('the watch over the event loop', () => {
  function watch() {
    const clock = { now: 0, cpuMs: 0 };
    const delays: number[] = [];
    const blocked: [number, number][] = [];
    const loop = watchLoop({
      onDelay: (ms) => delays.push(ms),
      onBlocked: (ms, cpuMs) => blocked.push([ms, cpuMs]),
      now: () => clock.now,
      cpuMs: () => clock.cpuMs,
    });
    // Looks come by hand only: the clock is the test's.
    loop.close();
    const pass = (ms: number, cpuMs: number) => {
      clock.now += ms;
      clock.cpuMs += cpuMs;
      loop.look();
    };
    return { pass, delays, blocked };
  }

  it('measures how much later than due each look comes', () => {
    const { pass, delays, blocked } = watch();
    pass(20, 1);
    pass(19, 1);
    pass(170, 140);
    expect(delays).toEqual([0, 0, 150]);
    expect(blocked).toEqual([]);
  });

  it('tells of a second without a look, and how much of it was computing', () => {
    const { pass, blocked } = watch();
    pass(3_020, 2_900);
    pass(20, 1);
    pass(5_020, 2);
    expect(blocked).toEqual([
      [3_000, 2_900],
      [5_000, 2],
    ]);
  });
});

describe('activity', () => {
  it('is what has begun and not ended, and what began last', () => {
    const activity = createActivity();
    const end = activity.begin('GET /v1/jobs');
    activity.begin('POST /v1/scrape');
    activity.begin('POST /v1/scrape');
    expect(activity.underWay()).toEqual({ 'POST /v1/scrape': 2, 'GET /v1/jobs': 1 });
    end();
    end();
    expect(activity.underWay()).toEqual({ 'POST /v1/scrape': 2 });
    expect(activity.recent()).toEqual(['POST /v1/scrape', 'POST /v1/scrape', 'GET /v1/jobs']);
    for (let n = 0; n < 100; n++) activity.begin('GET /healthz')();
    expect(activity.recent()).toHaveLength(10);
  });
});
