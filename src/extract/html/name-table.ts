const SLOTS = 1_024;

/** One step of the hash of a name: letters fold to lower case, so `HREF` and `href` hash alike. */
export function foldName(hash: number, code: number): number {
  return (Math.imul(hash, 131) + (code | 0x20)) | 0;
}

export function hashName(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = foldName(hash, name.charCodeAt(i));
  return hash;
}

/**
 * Finds a known name by its hash, so that the scanner never makes a string of a tag or attribute name.
 * Ids are the places in the list; -1 means unknown. An unknown name with the 32-bit hash of a known one is taken
 * for it: a page built that way only damages its own extraction.
 */
export class NameTable {
  readonly #hashes = new Int32Array(SLOTS);
  readonly #ids = new Int16Array(SLOTS).fill(-1);

  constructor(names: readonly string[]) {
    for (const [id, name] of names.entries()) {
      const hash = hashName(name);
      let slot = slotOf(hash);
      while (this.#ids[slot] !== -1) slot = (slot + 1) & (SLOTS - 1);
      this.#hashes[slot] = hash;
      this.#ids[slot] = id;
    }
  }

  find(hash: number): number {
    let slot = slotOf(hash);
    for (;;) {
      const id = this.#ids[slot] as number;
      if (id === -1 || this.#hashes[slot] === hash) return id;
      slot = (slot + 1) & (SLOTS - 1);
    }
  }
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}
