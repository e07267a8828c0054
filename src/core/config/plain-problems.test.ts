import { expect, it } from 'vitest';
import { z } from 'zod';
import { parsePlainly, sentenceOf } from './plain-problems.ts';

const schema = z.strictObject({
  url: z.string().min(1).max(10),
  formats: z
    .array(z.enum(['html', 'text']))
    .min(1)
    .optional(),
  limit: z.number().int().min(1).max(100).optional(),
  ratio: z.number().positive().optional(),
  isQuiet: z.boolean().optional(),
  name: z
    .string()
    .regex(/^[a-z]+$/, 'Must be lower-case letters.')
    .optional(),
  when: z.iso.datetime().optional(),
  home: z.url().optional(),
  scroll: z.union([z.boolean(), z.strictObject({ maxSteps: z.int() })]).optional(),
  step: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('click'), selector: z.string() }),
      z.strictObject({ type: z.literal('wait'), ms: z.int() }),
    ])
    .optional(),
  options: z.strictObject({ engine: z.string().optional(), timeoutMs: z.int().optional() }).prefault({}),
});

const told = (given: unknown) =>
  (parsePlainly(schema, given).problems ?? []).map(({ path, text }) => sentenceOf(text, path.join('.')));

it.each<[object, string]>([
  [{}, '`url` is required.'],
  [{ url: 5 }, '`url` must be text.'],
  [{ url: '' }, '`url` must not be empty.'],
  [{ url: 'x'.repeat(11) }, '`url` must have at most 10 characters.'],
  [{ url: 'a', formats: 'html' }, '`formats` must be a list.'],
  [{ url: 'a', formats: [] }, '`formats` must not be empty.'],
  [{ url: 'a', formats: ['html', 'markup'] }, '`formats.1` must be one of html, text.'],
  [{ url: 'a', limit: '5' }, '`limit` must be a whole number.'],
  [{ url: 'a', limit: 1.5 }, '`limit` must be a whole number.'],
  [{ url: 'a', limit: 0 }, '`limit` must be at least 1.'],
  [{ url: 'a', limit: 101 }, '`limit` must be at most 100.'],
  [{ url: 'a', ratio: 0 }, '`ratio` must be more than 0.'],
  [{ url: 'a', ratio: 'x' }, '`ratio` must be a number.'],
  [{ url: 'a', isQuiet: 'yes' }, '`isQuiet` must be true or false.'],
  [{ url: 'a', name: 'A' }, '`name` must be lower-case letters.'],
  [{ url: 'a', when: 'soon' }, '`when` must be a time like 2026-01-31T12:00:00Z.'],
  [{ url: 'a', home: 'here' }, '`home` must be a URL.'],
  [{ url: 'a', scroll: 5 }, '`scroll` must be true or false, or an object.'],
  [{ url: 'a', scroll: { maxSteps: 'x' } }, '`scroll.maxSteps` must be a whole number.'],
  [{ url: 'a', step: { type: 'jump' } }, '`step.type` must be one of click, wait.'],
  [{ url: 'a', step: { type: 'click' } }, '`step.selector` is required.'],
  [{ url: 'a', options: { timeoutMs: null } }, '`options.timeoutMs` must be a whole number.'],
  [{ url: 'a', format: ['html'] }, '`format` is not a known field; did you mean `formats`?'],
  [{ url: 'a', options: { engin: 'x' } }, '`options.engin` is not a known field; did you mean `engine`?'],
  [{ url: 'a', engine: 'http' }, '`engine` is not a known field here; it belongs into `options`.'],
  [{ url: 'a', colour: 'red' }, '`colour` is not a known field.'],
])('%j: %s', (given, sentence) => {
  expect(told(given)).toEqual([sentence]);
});

it('a value that is wrong as a whole has a sentence, too', () => {
  expect(told(null)).toEqual(['The value must be an object.']);
});

it('no text repeats a value', () => {
  const secret = 'hush-hush';
  const given = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, [secret]]));
  expect(told(given).length).toBeGreaterThan(5);
  expect(told(given).join(' ')).not.toContain(secret);
});

it('compares few names, however many unknown fields there are', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`format${at}`, 1]));
  const suggested = told({ url: 'a', ...many }).filter((text) => text.includes('did you mean'));
  expect(told({ url: 'a', ...many })).toHaveLength(1_000);
  expect(suggested.length).toBeLessThanOrEqual(50);
});

it('a length that cannot be compared is a problem of the value, not a fault', () => {
  const hostile = { length: { toString: 'x', valueOf: 1 } };
  expect(told({ url: hostile })).toEqual([expect.stringMatching(/has the field `length`/)]);
  expect(told({ url: 'a', formats: hostile })).toEqual([expect.stringMatching(/has the field `length`/)]);
});
