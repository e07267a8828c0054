import type { ByteBudget } from '../fetch/byte-budget.ts';

/**
 * A fixed number of places for fetches, shared by all hosts of the process; the listener that waited longest is called first. No
 * place is given while so many bytes are held that the attempts under way need the rest of the budget.
 */
export interface Slots {
  /** Takes a place if there is one. */
  take(): boolean;
  give(): void;
  /** Calls the listener once, when a place is free again. A listener that does not take it calls `decline`. */
  whenFree(listener: () => void): void;
  /** The listener wants no place any more; a free one is offered to the next listener. */
  decline(listener: () => void): void;
  readonly taken: number;
}

export function createSlots(places: number, budget?: Pick<ByteBudget, 'hasRoom' | 'onRoom'>): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();

  const isFull = (): boolean => taken >= places || budget?.hasRoom === false;
  budget?.onRoom(() => {
    // Several places may be free by now, and giving one back tells of one only.
    for (let told = Math.min(waiting.size, places - taken); told > 0; told -= 1) tellNext();
  });

  function tellNext(): void {
    const [first] = waiting;
    if (first === undefined || isFull()) return;
    waiting.delete(first);
    first();
  }

  return {
    take() {
      if (isFull()) return false;
      taken += 1;
      return true;
    },
    give() {
      taken -= 1;
      tellNext();
    },
    whenFree(listener) {
      waiting.add(listener);
    },
    decline(listener) {
      waiting.delete(listener);
      tellNext();
    },
    get taken() {
      return taken;
    },
  };
}
