/** A fixed number of places for fetches, shared by all hosts of the process; whoever waited longest is told first. */
export interface Slots {
  /** Takes a place if there is one. */
  take(): boolean;
  give(): void;
  /** Called once, when a place is free again. Whoever then does not take it says so with `decline`. */
  whenFree(listener: () => void): void;
  /** The listener wants no place any more; one that is free is offered to whoever waits next. */
  decline(listener: () => void): void;
  readonly taken: number;
}

export function createSlots(places: number): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();

  function tellNext(): void {
    const [first] = waiting;
    if (first === undefined || taken >= places) return;
    waiting.delete(first);
    first();
  }

  return {
    take() {
      if (taken >= places) return false;
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
