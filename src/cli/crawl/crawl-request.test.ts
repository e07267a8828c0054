import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { draftCrawl } from '../../capabilities/jobs/accept/job-draft.ts';
import { define } from '../commands/crawl.ts';
import type { Shell } from '../shell/shell.ts';
import { type CrawlFlags, crawlCommandOf, resumedOptions } from './crawl-request.ts';

/** The flags of a command as it is typed. */
function flagsOf(...argv: readonly string[]): CrawlFlags {
  const command = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  define(
    command,
    {} as Shell,
    () => undefined,
    async () => 0,
  );
  command.action(() => undefined).parse([...argv], { from: 'user' });
  return command.opts<CrawlFlags>();
}

const URLS = ['https://example.com/'];
const requestOf = (...argv: readonly string[]) => crawlCommandOf(URLS, flagsOf(...argv)).request;

describe('the request of a crawl', () => {
  it('has null for a limit of none, and its default for one that is not given', () => {
    const limits = ['pages', 'depth', 'bytes', 'duration', 'browser-time', 'proxy-bytes'];
    expect(
      requestOf(...limits.flatMap((name) => [`--max-${name}`, 'none']), '--concurrency', 'none'),
    ).toMatchObject({
      maxPages: null,
      maxDepth: null,
      maxBytes: null,
      maxDurationMs: null,
      maxBrowserMs: null,
      maxProxyBytes: null,
      concurrency: null,
    });
    expect(requestOf()).toMatchObject({ maxPages: 10_000, maxDepth: null });
    expect(requestOf('--max-browser-time', '2m', '--max-proxy-bytes', '5MB')).toMatchObject({
      maxBrowserMs: 120_000,
      maxProxyBytes: 5_000_000,
    });
  });

  it('refuses 0 where it could mean nothing or everything', () => {
    expect(() => requestOf('--max-pages', '0')).toThrow(/--max-pages: must be 1 or more/);
    expect(requestOf('--max-depth', '0').maxDepth).toBe(0);
  });

  it('knows the former names of flags', () => {
    expect(requestOf('--subdomains', '--external')).toMatchObject({
      allowSubdomains: true,
      allowExternal: true,
    });
  });

  it('names the flag of a pattern that cannot be used', () => {
    expect(() => requestOf('--exclude', 'blog')).toThrow(/^--exclude: A pattern is a glob/);
  });
});

describe('a crawl that goes on', () => {
  const { options } = draftCrawl(requestOf('--max-credits', '5'), () => true);
  const resumed = (...argv: readonly string[]) =>
    resumedOptions({ seeds: URLS, options }, [], flagsOf(...argv), true);

  it('takes each limit from its flag, and keeps those that are not given', () => {
    expect(resumed('--max-pages', '7').budgets).toEqual({ ...options.budgets, maxPages: 7 });
    expect(resumed('--max-credits', '9').budgets.maxMicrocredits).toBe(9_000_000);
    expect(resumed('--max-credits', 'none').budgets.maxMicrocredits).toBeNull();
  });

  it('refuses another option, and names all that may change as the documentation does', () => {
    const [list = ''] =
      /Only limits \([^)]*\) and, without a server, \S+ and \S+/.exec(
        readFileSync('docs/command-line.md', 'utf8').replaceAll('`', ''),
      ) ?? [];
    expect(list).toContain('--max-credits');
    expect(() => resumed('--max-depth', '3')).toThrow(`${list} can change on --resume`);
  });
});
