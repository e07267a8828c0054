import { describe, expect, it } from 'vitest';
import type { AllowedHours } from '../../core/model/policy.ts';
import { isTimeZone } from '../../lib/zone-time.ts';
import { hoursProblem, isOpen, nextOpening } from './hours.ts';

const hours = (from: string, to: string, timeZone = 'UTC', days: readonly number[] = []): AllowedHours => ({
  from,
  to,
  timeZone,
  days,
});
const at = (iso: string) => Date.parse(iso);

describe('allowed hours', () => {
  it.each([
    ['08:00', '18:00', '07:59:59.999', false],
    ['08:00', '18:00', '08:00:00.000', true],
    ['08:00', '18:00', '17:59:59.999', true],
    ['08:00', '18:00', '18:00:00.000', false],
    ['22:00', '06:00', '21:59:00.000', false],
    ['22:00', '06:00', '22:00:00.000', true],
    ['22:00', '06:00', '00:00:00.000', true],
    ['22:00', '06:00', '06:00:00.000', false],
    ['00:00', '24:00', '00:00:00.000', true],
    ['00:00', '24:00', '23:59:59.999', true],
    ['08:00', '08:00', '03:00:00.000', true],
    ['20:00', '24:00', '23:59:00.000', true],
    ['20:00', '24:00', '00:00:00.000', false],
    ['20:00', '00:00', '00:00:00.000', false],
  ])('from %s to %s at %s: open is %s', (from, to, time, open) => {
    expect(isOpen(hours(from, to), at(`2026-06-03T${time}Z`))).toBe(open);
  });

  it('are those of the time zone', () => {
    const tokyo = hours('09:00', '17:00', 'Asia/Tokyo');
    expect(isOpen(tokyo, at('2026-06-03T00:00:00Z'))).toBe(true);
    expect(isOpen(tokyo, at('2026-06-03T08:00:00Z'))).toBe(false);
    const kathmandu = hours('09:00', '17:00', 'Asia/Kathmandu');
    expect(isOpen(kathmandu, at('2026-06-03T03:14:59Z'))).toBe(false);
    expect(isOpen(kathmandu, at('2026-06-03T03:15:00Z'))).toBe(true);
  });

  it('belong to the days they begin on', () => {
    // 2026-06-05 is a Friday.
    const fridayNight = hours('22:00', '06:00', 'UTC', [5]);
    expect(isOpen(fridayNight, at('2026-06-05T05:00:00Z'))).toBe(false);
    expect(isOpen(fridayNight, at('2026-06-05T23:00:00Z'))).toBe(true);
    expect(isOpen(fridayNight, at('2026-06-06T05:00:00Z'))).toBe(true);
    expect(isOpen(fridayNight, at('2026-06-06T23:00:00Z'))).toBe(false);
  });
});

describe('the next opening', () => {
  it.each([
    ['now, when open', hours('08:00', '18:00'), '2026-06-03T09:30:00.500Z', '2026-06-03T09:30:00.500Z'],
    ['later today', hours('08:00', '18:00'), '2026-06-03T07:10:20.300Z', '2026-06-03T08:00:00Z'],
    ['tomorrow', hours('08:00', '18:00'), '2026-06-03T18:00:00Z', '2026-06-04T08:00:00Z'],
    ['next week', hours('08:00', '18:00', 'UTC', [5]), '2026-06-05T18:00:00Z', '2026-06-12T08:00:00Z'],
    ['on Monday', hours('08:00', '18:00', 'UTC', [1, 2]), '2026-06-05T12:00:00Z', '2026-06-08T08:00:00Z'],
    [
      'in another zone',
      hours('08:00', '18:00', 'Asia/Tokyo'),
      '2026-06-03T12:00:00Z',
      '2026-06-03T23:00:00Z',
    ],
    [
      'the same local time after the clock goes forward',
      hours('08:00', '10:00', 'Europe/Berlin'),
      '2026-03-28T12:00:00Z',
      '2026-03-29T06:00:00Z',
    ],
    [
      'the same local time after the clock goes back',
      hours('08:00', '10:00', 'Europe/Berlin'),
      '2026-10-24T12:00:00Z',
      '2026-10-25T07:00:00Z',
    ],
    [
      'where the clock jumps into the window',
      hours('02:30', '05:00', 'Europe/Berlin'),
      '2026-03-29T00:00:00Z',
      '2026-03-29T01:00:00Z',
    ],
    [
      'a day later, when the clock jumps over the window',
      hours('02:15', '02:45', 'Europe/Berlin'),
      '2026-03-29T00:00:00Z',
      '2026-03-30T00:15:00Z',
    ],
    [
      'again, when the clock goes back into the window',
      hours('02:00', '02:30', 'Europe/Berlin'),
      '2026-10-25T00:45:00Z',
      '2026-10-25T01:00:00Z',
    ],
    [
      'with half an hour of summer time',
      hours('03:00', '04:00', 'Australia/Lord_Howe'),
      '2026-10-03T10:00:00Z',
      '2026-10-03T16:00:00Z',
    ],
  ])('is %s', (_claim, window, now, opening) => {
    expect(new Date(nextOpening(window, at(now))).toISOString()).toBe(new Date(at(opening)).toISOString());
  });
});

describe('wrong allowed hours', () => {
  it.each([
    [hours('8:00', '18:00'), /from/],
    [hours('24:00', '18:00'), /from/],
    [hours('08:00', '18:60'), /to/],
    [hours('08:00', '24:30'), /to/],
    [hours('08:00', 'late'), /to/],
    [hours('08:00', '18:00', 'Mars/Olympus'), /time zone Mars\/Olympus/],
    [hours('08:00', '18:00', ''), /time zone/],
    [hours('08:00', '18:00', 'UTC', [7]), /days/],
  ])('%j are told', (wrong, problem) => {
    expect(hoursProblem(wrong)).toMatch(problem);
  });

  it('are not seen where there are none', () => {
    expect(hoursProblem(hours('22:00', '06:00', 'America/New_York', [0, 6]))).toBeNull();
    expect(isTimeZone('Europe/Berlin')).toBe(true);
  });
});
