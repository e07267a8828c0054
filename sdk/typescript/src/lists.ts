import { BadAnswerError } from './errors.ts';
import type { Call, CallOptions, Transport } from './transport.ts';

interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/**
 * A list of the server. Iterating gives every entry, page after page, each asked for when it is needed; `page` gives one
 * page with the cursor of the next.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #transport: Transport;
  readonly #call: Call;

  constructor(transport: Transport, path: string, query: object | undefined, options: CallOptions) {
    this.#transport = transport;
    this.#call = { method: 'GET', path, query: { ...query }, ...options };
  }

  /** Throws BadAnswerError for a page whose cursor is the one that was sent, which would be followed for ever. */
  async page(cursor?: string): Promise<ListAnswer<T>> {
    const call = { ...this.#call, query: { ...this.#call.query, cursor } };
    const { items, nextCursor = null } = await this.#transport.json<Partial<ListAnswer<T>>>(call);
    if (!Array.isArray(items)) throw new BadAnswerError(`${call.path}: the page of the list has no items.`);
    if (nextCursor !== null && nextCursor === cursor)
      throw new BadAnswerError(`${call.path}: the cursor of the next page is that of this page.`);
    return { items, nextCursor };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    let cursor: string | null | undefined;
    do {
      const { items, nextCursor } = await this.page(cursor ?? undefined);
      yield* items;
      cursor = nextCursor;
    } while (cursor !== null);
  }

  /** Every entry; for lists that are known to be short. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }
}
