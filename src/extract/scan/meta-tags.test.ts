import { describe, expect, it } from 'vitest';
import { refreshTarget } from './meta-tags.ts';

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
