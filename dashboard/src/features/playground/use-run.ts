import { useEffect, useRef, useState } from 'react';
import { type ApiError, asApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import type { ScrapeBody } from './request/option-fields.ts';
import { type Run, runOfScrape } from './result/run.ts';

export type RunState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly startedAt: number }
  | { readonly kind: 'done'; readonly run: Run }
  | { readonly kind: 'accepted'; readonly jobId: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: ApiError };

/** The server answers within the time of all attempts; beyond that the connection is given up. */
const PATIENCE_MS = 10 * 60_000;

/** Sends the request of the form. A run that is cancelled, or whose page is left, ends its job on the server. */
export function useRun(): {
  readonly state: RunState;
  start(body: ScrapeBody): Promise<RunState>;
  cancel(): void;
} {
  const [state, setState] = useState<RunState>({ kind: 'idle' });
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  return {
    state,
    async start(body) {
      controller.current?.abort();
      const own = new AbortController();
      controller.current = own;
      setState({ kind: 'running', startedAt: Date.now() });
      const ended = await outcomeOf(body, own.signal);
      // A later run has taken over.
      if (controller.current === own) setState(ended);
      return ended;
    },
    cancel() {
      controller.current?.abort();
    },
  };
}

async function outcomeOf(body: ScrapeBody, signal: AbortSignal): Promise<RunState> {
  try {
    const answer = await api.post('/v1/scrape', { body, signal, timeoutMs: PATIENCE_MS });
    return 'trace' in answer
      ? { kind: 'done', run: runOfScrape(answer) }
      : { kind: 'accepted', jobId: answer.id };
  } catch (cause) {
    return signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', error: asApiError(cause) };
  }
}
