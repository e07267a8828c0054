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

  page(cursor?: string): Promise<ListAnswer<T>> {
    return this.#transport.json({ ...this.#call, query: { ...this.#call.query, cursor } });
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
