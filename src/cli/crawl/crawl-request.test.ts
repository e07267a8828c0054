import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { define } from '../commands/crawl.ts';
import type { Shell } from '../shell/shell.ts';
import { type CrawlFlags, crawlCommandOf } from './crawl-request.ts';

/** The request of a command as it is typed. */
function requestOf(...argv: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  define(
    command,
    {} as Shell,
    () => undefined,
    async () => 0,
  );
  command.action(() => undefined).parse([...argv], { from: 'user' });
  return crawlCommandOf(['https://example.com/'], command.opts<CrawlFlags>()).request;
}

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
