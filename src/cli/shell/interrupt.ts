import { listen } from '../../core/errors/guarded.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { within } from '../../lib/time-limit.ts';

/** Ctrl-C, the request of a supervisor to stop, and a terminal that was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupts {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Signals end the process again as they usually do. */
  close(): void;
}

/** The first signal asks to stop cleanly, the second ends the process at once, after `onSecond`. */
export function watchInterrupts(onSecond: () => void = () => undefined): Interrupts {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      onSecond();
      process.exit(EXIT.interrupted);
    }
    controller.abort();
  };
  for (const name of SIGNALS) listen(process, name, onSignal);
  return {
    signal: controller.signal,
    close() {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}

/** Waits for the end of a shutdown. Throws STORE_UNAVAILABLE when it takes longer than `limitMs`. */
export async function closeWithin(limitMs: number, closing: Promise<unknown>): Promise<void> {
  await within(
    limitMs,
    closing,
    () =>
      new ScrapifieError(
        'STORE_UNAVAILABLE',
        `Closing took longer than ${limitMs} ms. No stored data is lost.`,
      ),
  );
}
