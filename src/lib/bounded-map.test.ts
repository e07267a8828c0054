import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

describe('BoundedMap', () => {
  it('evicts the least recently used entry, and reading an entry counts as use', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect(map.peek('a')).toBe(1);
    expect(map.peek('b')).toBeUndefined();
    expect(map.size).toBe(2);
  });

  it('does not count peek as use', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.peek('a')).toBe(1);
    map.set('c', 3);
    expect(map.peek('a')).toBeUndefined();
    expect(map.peek('b')).toBe(2);
  });

  it('evicts nothing when a key that it holds is set again', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([map.peek('a'), map.peek('b')]).toEqual([3, 2]);
  });

  it('keeps entries that must not be evicted, and shrinks to its maximum once they may be', () => {
    const pinned = new Set([1, 2, 3]);
    const map = new BoundedMap<string, number>(2, (value) => !pinned.has(value));
    map.set('a', 1);
    map.set('b', 2);
    map.set('c', 3);
    expect(map.size).toBe(3);
    pinned.clear();
    map.set('d', 4);
    expect(map.size).toBe(2);
    expect([map.peek('c'), map.peek('d')]).toEqual([3, 4]);
  });

  it('makes a missing value once', () => {
    const map = new BoundedMap<string, object>(2);
    const made = map.getOrCreate('a', () => ({}));
    expect(map.getOrCreate('a', () => ({}))).toBe(made);
    expect(map.delete('a')).toBe(true);
    expect(map.getOrCreate('a', () => ({}))).not.toBe(made);
    map.clear();
    expect(map.size).toBe(0);
  });
});
