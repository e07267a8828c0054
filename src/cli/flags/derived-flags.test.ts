import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { derivedFieldsOf, derivedFlags } from './derived-flags.ts';

function parse(...argv: string[]) {
  const command = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  for (const flag of derivedFlags()) command.addOption(flag);
  return derivedFieldsOf(command.parse(argv, { from: 'user' }).opts());
}

describe('--export', () => {
  it('takes types with formats; a type alone is written as CSV', () => {
    expect(parse('--export', 'full:csv,seo', '--export', 'raw:warc').exports).toEqual([
      { type: 'full', format: 'csv' },
      { type: 'seo', format: 'csv' },
      { type: 'raw', format: 'warc' },
    ]);
  });

  it('does not offer the diff, which needs another job', () => {
    const help = derivedFlags().find(({ long }) => long === '--export')?.description;
    expect(help).toContain('types: full, seo, raw, links, records, results;');
  });

  it.each([
    ['diff:csv', /"diff:csv".*scrapifie export/],
    ['fill:csv', /"fill:csv".*full, seo, raw/],
    ['full:doc', /"full:doc".*csv, xlsx/],
    ['full:warc', /"full:warc".*type "raw"/],
    [',', /full, seo, raw/],
  ])('refuses %s and names it', (text, told) => {
    expect(() => parse('--export', 'full:csv', '--export', text)).toThrow(told);
  });
});
