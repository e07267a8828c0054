import type { StructuredItem } from '../model/page.ts';
import { LIMITS } from './limits.ts';
import type { TextCapture } from './text-capture.ts';

interface Item extends StructuredItem {
  readonly properties: Record<string, (string | StructuredItem)[]>;
}

/** An open element that is an item, or whose text will be the value of a property of `item`. */
interface Frame {
  readonly depth: number;
  readonly item: Item;
  /** Null on items. */
  readonly textNames: readonly string[] | null;
  readonly textStart: number;
}

/** Items within items, as microdata and RDFa write them down; built while their elements open and end. */
export class ItemTree {
  readonly roots: StructuredItem[] = [];
  isTruncated = false;
  readonly #frames: Frame[] = [];
  #items = 0;
  #values = 0;
  #chars = 0;

  /** Whether there is an item that properties could belong to. */
  get hasItem(): boolean {
    return this.#frames.length > 0;
  }

  /** Opens an item at an element; it becomes a value of the one around it under `names`, and a root without names. */
  open(depth: number, type: readonly string[], id: string | null, names: readonly string[]): boolean {
    if (this.#items >= LIMITS.items || this.#frames.length >= LIMITS.itemDepth) {
      this.isTruncated = true;
      return false;
    }
    this.#items++;
    const item: Item = { type, ...(id === null ? {} : { id }), properties: Object.create(null) };
    if (names.length > 0 && this.hasItem) this.addValue(names, item);
    else this.roots.push(item);
    this.#frames.push({ depth, item, textNames: null, textStart: 0 });
    return true;
  }

  addValue(names: readonly string[], value: string | StructuredItem): void {
    const item = this.#frames.at(-1)?.item;
    if (item !== undefined) this.#add(item, names, value);
  }

  /** The text of the element at `depth` will be the value. */
  awaitText(depth: number, names: readonly string[], capture: TextCapture): boolean {
    const item = this.#frames.at(-1)?.item;
    if (item === undefined || this.#frames.length >= LIMITS.itemDepth) return false;
    this.#frames.push({ depth, item, textNames: names, textStart: capture.begin() });
    return true;
  }

  /** Ends what began at `depth` or within. */
  end(depth: number, capture: TextCapture): void {
    for (
      let frame = this.#frames.at(-1);
      frame !== undefined && frame.depth >= depth;
      frame = this.#frames.at(-1)
    ) {
      this.#frames.pop();
      if (frame.textNames === null) continue;
      if (this.#chars > LIMITS.itemChars) this.isTruncated = true;
      else this.#add(frame.item, frame.textNames, capture.since(frame.textStart, LIMITS.itemValueChars));
      capture.release();
    }
  }

  #add(item: Item, names: readonly string[], value: string | StructuredItem): void {
    for (const name of names) {
      this.#chars += name.length + (typeof value === 'string' ? value.length : 0);
      if (++this.#values > LIMITS.itemValues || this.#chars > LIMITS.itemChars) {
        this.isTruncated = true;
        return;
      }
      const values = item.properties[name];
      if (values === undefined) item.properties[name] = [value];
      else values.push(value);
    }
  }
}
