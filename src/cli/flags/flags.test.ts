import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { duration } from './flag-values.ts';
import { FLAGS, parseFlags } from './flags.ts';

function parse(flag: keyof typeof FLAGS, ...argv: string[]): unknown {
  const command = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  const option = FLAGS[flag]();
  return command.addOption(option).parse(argv, { from: 'user' }).opts()[option.attributeName()];
}

describe('flags', () => {
  it.each([
    ['250', 250],
    ['90s', 90_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
  ])('%s is a time', (text, ms) => expect(duration(text)).toBe(ms));

  it.each(['', 's', '-1s', '5 weeks', '1e3'])('"%s" is no time', (text) =>
    expect(() => duration(text)).toThrow(),
  );

  it.each([
    ['500', 500],
    ['20MB', 20_000_000],
    ['1.5GiB', 1_610_612_736],
  ])('%s is a size', (text, bytes) => expect(parse('maxBytes', '--max-bytes', text)).toBe(bytes));

  it('that take a list take it at once and one by one', () => {
    expect(parse('format', '--format', 'html,text', '--format', 'links')).toEqual(['html', 'text', 'links']);
    expect(() => parse('format', '--format', ',')).toThrow(/one or more of/);
  });

  it('that take a pattern keep its commas', () => {
    expect(parse('include', '--include', '/a{1,2}', '--include', '/b')).toEqual(['/a{1,2}', '/b']);
  });

  it('that take a header keep its colons', () => {
    expect(parse('header', '--header', 'A: b:c', '--header', 'D:e')).toEqual({ A: 'b:c', D: 'e' });
    expect(() => parse('header', '--header', 'nonsense')).toThrow(/Name: value/);
  });

  it.each(['0', '-1', 'fast', 'Infinity', '1e3'])('%s is no rate', (text) =>
    expect(() => parse('rate', '--rate', text)).toThrow(/requests per second/),
  );
});

it('what a schema refuses is told under the name of its flag', () => {
  const schema = z.strictObject({ timeoutMs: z.number().min(1_000) });
  expect(() => parseFlags(schema, { timeoutMs: 1 }, { timeoutMs: '--timeout' })).toThrow(
    expect.objectContaining({ code: 'INVALID_USAGE', message: expect.stringMatching(/^--timeout: /) }),
  );
});
