import { expect, it } from 'vitest';
import { everyMsOf } from '../../capabilities/schedules/schedule-request.ts';
import { intervalText } from './interval.ts';

it.each(['1h', '1h30m', '90s', '15m', '1d', '366d', '1d1s', '1s500ms'])(
  '%s is written as it is read',
  (every) => {
    const ms = everyMsOf(every) ?? 0;
    expect(intervalText(ms)).toBe(every === '90s' ? '1m30s' : every);
    expect(everyMsOf(intervalText(ms))).toBe(ms);
  },
);
