import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { optionsTable, pageOptionsTable, withSection } from '../../scripts/docs.ts';
import { COMMANDS, fieldsOf, WITHOUT_FIELD, WITHOUT_FLAG } from '../../scripts/option-names.ts';
import { crawlRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import { define as defineCrawl } from '../../src/cli/commands/crawl.ts';
import { define as defineMap } from '../../src/cli/commands/map.ts';
import { define as defineScrape } from '../../src/cli/commands/scrape.ts';
import { crawlCommandOf } from '../../src/cli/crawl/crawl-request.ts';
import type { Shell } from '../../src/cli/shell/shell.ts';

const DEFINE = { scrape: defineScrape, crawl: defineCrawl, map: defineMap };

/** The flags of a command, in the form in which they are typed. */
function flagsOf(name: keyof typeof DEFINE): string[] {
  const command = new Command(name);
  DEFINE[name](
    command,
    {} as Shell,
    () => undefined,
    async () => 0,
  );
  return command.options.map(({ long }) => long ?? '');
}

const names = Object.keys(DEFINE) as (keyof typeof DEFINE)[];
const partsOf = (name: string) => COMMANDS[name] ?? expect.fail(`no command ${name}`);

describe.each(names)('%s', (name) => {
  const { schema, flagOf } = partsOf(name);
  const flags = flagsOf(name);
  const fields = fieldsOf(schema);

  it('has a flag for every field of its request, but for the documented exceptions', () => {
    const missing = fields.filter(({ path, name: field }) => !(path in flagOf) && !(field in WITHOUT_FLAG));
    expect(missing.map(({ path }) => path)).toEqual([]);
  });

  it('has every flag that stands for a field', () => {
    const named = Object.values(flagOf).filter((flag) => flag !== 'URL');
    expect(named.filter((flag) => !flags.includes(flag))).toEqual([]);
  });

  it('has no other flags than those of fields and the documented ones', () => {
    const named = new Set([...Object.values(flagOf), ...Object.keys(WITHOUT_FIELD)]);
    expect(flags.filter((flag) => !named.has(flag))).toEqual([]);
  });
});

it('a crawl without flags is the request without fields', () => {
  const urls = ['https://example.com/'];
  const obeyed = { robots: true, obeyNofollow: true, obeyNoindex: true };
  const unset = { ...obeyed, followCanonical: true, avoidQueryTraps: true };
  expect(crawlCommandOf(urls, unset).request).toEqual(crawlRequestSchema.parse({ urls }));
});

it('docs/command-line.md has the table of names, up to date with the schemas', () => {
  const page = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
  expect(page, 'run: node scripts/write-docs.ts').toBe(withSection(page, 'options', optionsTable()));
});

it('docs/scrape-options.md has every option of a page: else run `npm run docs`', () => {
  const page = readFileSync(new URL('../../docs/scrape-options.md', import.meta.url), 'utf8');
  expect(page).toBe(withSection(page, 'page-options', pageOptionsTable()));
});
