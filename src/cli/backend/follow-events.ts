import { setTimeout as delay } from 'node:timers/promises';
import { parseEventStream, type StreamEvent } from '../../capabilities/events/stream-frames.ts';
import { ERRORS } from '../../core/errors/registry.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ApiClient } from './api-client.ts';

const RETRY_MS = 1_000;
/** Tries in a row without an event before the server counts as gone. */
const MOST_TRIES = 60;

/** The events of a stream until its end. A connection that breaks is made again, after the last event that came. */
export async function* followEvents(
  client: Pick<ApiClient, 'listen'>,
  path: string,
): AsyncGenerator<StreamEvent> {
  let last: string | null = null;
  let hasBegun = false;
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const event of parseEventStream(client.listen(path, last))) {
        if (event.id !== null) last = event.id;
        hasBegun = true;
        tries = 0;
        yield event;
        if (event.type === 'end') return;
      }
    } catch (error) {
      const mayPass =
        isScrapifieError(error) && (error.code === 'API_UNREACHABLE' || ERRORS[error.code].retry === 'later');
      // A command that never reached the server says so at once.
      if (!hasBegun || !mayPass || tries >= MOST_TRIES) throw error;
    }
    await delay(RETRY_MS);
  }
}
