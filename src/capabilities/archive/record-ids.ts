const FIRST_SLOTS = 1_024;
const DIGITS = 13;
const EMPTY = -1;
const UUID = /([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})/;

/**
 * The ids of records that a file has, in at most 32 bytes each. Of the 122 free bits of an id 104 are compared, so that
 * two ids among a billion are the same by chance of 1 in 10^13.
 */
export class RecordIds {
  #size = 0;
  #slots = new Float64Array(FIRST_SLOTS * 2).fill(EMPTY);

  get size(): number {
    return this.#size;
  }

  /** False when it is there already. */
  add(id: string): boolean {
    const [high, low] = halvesOf(id);
    if (!this.#insert(high, low)) return false;
    if (this.#size * 4 > this.#slots.length) this.#grow();
    return true;
  }

  has(id: string): boolean {
    const [high, low] = halvesOf(id);
    return this.#slots[this.#slotOf(high, low)] !== EMPTY;
  }

  /** The slot that has the id, or the free one where it belongs. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    let at = (high % (slots.length / 2)) * 2;
    while (slots[at] !== EMPTY && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 2) % slots.length;
    return at;
  }

  #insert(high: number, low: number): boolean {
    const at = this.#slotOf(high, low);
    if (this.#slots[at] !== EMPTY) return false;
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#size += 1;
    return true;
  }

  #grow(): void {
    const kept = this.#slots;
    this.#slots = new Float64Array(kept.length * 2).fill(EMPTY);
    this.#size = 0;
    for (let at = 0; at < kept.length; at += 2) {
      const [high = EMPTY, low = EMPTY] = [kept[at], kept[at + 1]];
      if (high !== EMPTY) this.#insert(high, low);
    }
  }
}

function halvesOf(id: string): readonly [high: number, low: number] {
  const hex = UUID.exec(id)?.slice(1).join('') ?? '';
  return [Number.parseInt(hex.slice(0, DIGITS), 16) || 0, Number.parseInt(hex.slice(-DIGITS), 16) || 0];
}

/** 16 bytes, for keeping ids on a disk. */
export const idBytes = (id: string): Buffer => Buffer.from(UUID.exec(id)?.slice(1).join('') ?? '', 'hex');

export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
