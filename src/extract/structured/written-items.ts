import type { StructuredItem } from '../../model/page.ts';
import { LIMITS } from '../limits.ts';
import { type DataItem, isItem } from './item.ts';

/**
 * Things in the JSON shape of the HTML standard, where things are written out within each other. A thing within itself is
 * named by its id there. What several properties share is written several times, so the whole is limited, not its parts.
 */
export function writeItems(roots: readonly DataItem[]): {
  readonly items: StructuredItem[];
  readonly isTruncated: boolean;
} {
  const writer = new Writer();
  const items = roots.map((root) => writer.write(root, []));
  return { items, isTruncated: writer.isTruncated };
}

class Writer {
  isTruncated = false;
  #values = 0;
  #chars = 0;

  write(item: DataItem, around: readonly DataItem[]): StructuredItem {
    const properties: Record<string, (string | StructuredItem)[]> = Object.create(null);
    const path = [...around, item];
    for (const [name, values] of item.properties) {
      const written: (string | StructuredItem)[] = [];
      for (const value of values) {
        const isInside = isItem(value) && !path.includes(value) && path.length < LIMITS.itemDepth;
        const text = isItem(value) ? (value.id ?? '') : String(value);
        this.#chars += name.length + text.length;
        if (++this.#values > LIMITS.itemValues || this.#chars > LIMITS.itemChars) {
          this.isTruncated = true;
          break;
        }
        if (isInside) written.push(this.write(value, path));
        else if (!isItem(value) || value.id !== null) written.push(text);
        else this.isTruncated = true;
      }
      if (written.length > 0) properties[name] = written;
    }
    return { type: item.types, ...(item.id === null ? {} : { id: item.id }), properties };
  }
}
