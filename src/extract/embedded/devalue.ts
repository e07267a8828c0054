const MOST_VALUES = 300_000;
const MOST_DEPTH = 200;
/** Numbers that stand for values JSON has no word for; none of them says anything here. */
const NOTHING = -1;

/**
 * Values written as one flat list in which numbers are places of other values, as Nuxt 3 and SvelteKit do:
 * `[{"name":1},"Desk"]` is `{name: "Desk"}`. Returns undefined for what is no such list. Values that hold themselves
 * hold null instead.
 */
export function readFlatList(list: unknown): unknown {
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_VALUES) return undefined;
  return new FlatList(list).at(0, 0);
}

class FlatList {
  readonly #list: readonly unknown[];
  /** Also holds what is being read, so that a circle ends. */
  readonly #known = new Map<number, unknown>();
  #steps = 0;

  constructor(list: readonly unknown[]) {
    this.#list = list;
  }

  at(place: unknown, depth: number): unknown {
    if (typeof place !== 'number' || place <= NOTHING || depth > MOST_DEPTH) return null;
    if (this.#known.has(place)) return this.#known.get(place);
    if (++this.#steps > MOST_VALUES) return null;
    this.#known.set(place, null);
    const value = this.#read(this.#list[place], depth + 1);
    this.#known.set(place, value);
    return value;
  }

  #read(written: unknown, depth: number): unknown {
    if (written === null || typeof written !== 'object') return written ?? null;
    if (!Array.isArray(written)) {
      const object: Record<string, unknown> = Object.create(null);
      for (const [key, place] of Object.entries(written)) object[key] = this.at(place, depth);
      return object;
    }
    const [kind, ...places] = written as readonly unknown[];
    if (typeof kind !== 'string') return written.map((place: unknown) => this.at(place, depth));
    return this.#special(kind, places, depth);
  }

  #special(kind: string, places: readonly unknown[], depth: number): unknown {
    const [first] = places;
    switch (kind) {
      case 'Date':
      case 'BigInt':
      case 'URL':
      case 'RegExp':
        return typeof first === 'string' ? first : null;
      case 'Set':
        return places.map((place) => this.at(place, depth));
      case 'Map':
      case 'null': {
        const object: Record<string, unknown> = Object.create(null);
        for (let index = 0; index + 1 < places.length; index += 2) {
          const key = kind === 'Map' ? this.at(places[index], depth) : places[index];
          object[String(key)] = this.at(places[index + 1], depth);
        }
        return object;
      }
      default:
        // Reactive, Ref, ShallowReactive …: a wrapper around one value.
        return this.at(first, depth);
    }
  }
}
