import { describe, expect, it } from 'vitest';
import { ownRobotsHeader, readRobotsContent, refreshTarget } from './meta-tags.ts';

describe('refreshTarget', () => {
  it('finds the address in every shape browsers accept', () => {
    for (const content of [
      '0;url=/x',
      '5; URL = /x ',
      "1.5,url='/x'",
      '0;url="/x" y',
      '0; /x',
      '3 url=/x',
      ';url=/x',
      "0;url='/x",
    ]) {
      expect(refreshTarget(content), content).toBe('/x');
    }
  });

  it('finds none where the page only reloads', () => {
    for (const content of ['', '5', '5;', '5; url=', 'url=/x', "0;url=''", `0;url=${'x'.repeat(10_000)}`]) {
      expect(refreshTarget(content), content).toBeNull();
    }
  });
});

describe('robots directives', () => {
  it('reads noindex, nofollow and none among others', () => {
    expect(readRobotsContent('index, follow')).toEqual({ isNofollow: false, isNoindex: false });
    expect(readRobotsContent('max-snippet:-1,NoFollow')).toEqual({ isNofollow: true, isNoindex: false });
    expect(readRobotsContent(' NONE ')).toEqual({ isNofollow: true, isNoindex: true });
    expect(readRobotsContent('noindexed nofollows')).toEqual({ isNofollow: false, isNoindex: false });
  });

  it('takes from the header what is meant for all or for us', () => {
    expect(ownRobotsHeader(null)).toBe('');
    expect(ownRobotsHeader('noindex, nofollow')).toBe('noindex, nofollow');
    expect(ownRobotsHeader('otherbot: noindex, nofollow')).toBe('');
    expect(ownRobotsHeader('otherbot: none, ScrapifieBot: nofollow, noarchive')).toBe('nofollow, noarchive');
    expect(ownRobotsHeader('otherbot: none\nnoindex')).toBe('noindex');
    expect(ownRobotsHeader('unavailable_after: 25 Jun 2010 15:00:00 PST, noindex')).toContain('noindex');
  });
});
