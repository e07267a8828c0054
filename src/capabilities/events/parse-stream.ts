/** An event as a client of a stream gets it. */
export interface StreamEvent {
  /** Id of the last event that had one, as `Last-Event-ID` takes it; null before the first. */
  readonly id: string | null;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of a stream of server-sent events. Half an event at the end is left out, as the format demands. */
export async function* parseEventStream(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let rest = '';
  let id: string | null = null;
  for await (const chunk of chunks) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = fieldsOf(block);
      id = fields.get('id') ?? id;
      const data = fields.get('data');
      if (data !== undefined) {
        yield { id, type: fields.get('event') ?? 'message', data: JSON.parse(data) as StreamEvent['data'] };
      }
    }
  }
}

/** Lines that begin with a colon are comments. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  return fields;
}
