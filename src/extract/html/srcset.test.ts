import { describe, expect, it } from 'vitest';
import { srcsetCandidates } from './srcset.ts';

describe('srcsetCandidates', () => {
  it('reads addresses and descriptors', () => {
    expect(srcsetCandidates(' a.png 1x , b,c.png 2x,\n/d?e=1,2 100w, f,g')).toEqual([
      { url: 'a.png', descriptor: '1x' },
      { url: 'b,c.png', descriptor: '2x' },
      { url: '/d?e=1,2', descriptor: '100w' },
      { url: 'f,g', descriptor: '' },
    ]);
    expect(srcsetCandidates('a, b,,, c')).toHaveLength(3);
  });

  it('reads nothing from nothing, and not too much', () => {
    expect(srcsetCandidates('')).toEqual([]);
    expect(srcsetCandidates(' , ,')).toEqual([]);
    expect(srcsetCandidates('a 1x,'.repeat(1_000))).toHaveLength(64);
  });
});
