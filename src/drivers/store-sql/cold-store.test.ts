import { describe, expect, it } from 'vitest';
import { coldMethods, coldStore } from './cold-store.ts';
import { isReading } from './methods.ts';

/** How methods begin that change nothing. */
const READS =
  /^(?:get|list|find|count|has|known|read|scan|search|pagesOf|event|lake|view|webhook|account|audit)/;

describe('the cold store', () => {
  it('declares as reads what reads by its name, and nothing else', () => {
    const reads = coldMethods(isReading);
    expect(reads).toEqual(Object.keys(coldStore).filter((name) => READS.test(name)));
  });

  it('has a sync and reserved space for what changes something only', () => {
    const changing = coldMethods(({ isUnsynced, isReserved }) => isUnsynced === true || isReserved === true);
    expect(changing.filter((name) => READS.test(name))).toEqual([]);
    expect(changing.length).toBeGreaterThan(0);
  });
});
