import { describe, expect, it } from 'vitest';
import { coldMethods, coldStore } from './cold-store.ts';
import { isReading } from './methods.ts';

/** How the names of methods begin that change something. */
const CHANGES =
  /^(?:abandon|add|advance|apply|begin|change|claim|create|delete|disable|end|expire|fail|finish|forget|keep|lease|note|open|prove|purge|put|record|release|remove|renew|replace|rest|revoke|rotate|set|settle|sweep|take|touch|update)/;

const isChangeByName = (name: string) => CHANGES.test(name);

describe('the cold store', () => {
  it('declares each method as what its name says: it reads, or it changes something', () => {
    const names = Object.keys(coldStore);
    expect(coldMethods(isReading)).toEqual(names.filter((name) => !isChangeByName(name)));
  });

  it('declares no sync and no reserved space for what only reads', () => {
    const changing = coldMethods(({ isUnsynced, isReserved }) => isUnsynced === true || isReserved === true);
    expect(changing.filter((name) => !isChangeByName(name))).toEqual([]);
    expect(changing.length).toBeGreaterThan(0);
  });
});
