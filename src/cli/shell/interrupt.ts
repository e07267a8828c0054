import { listen, reportListenerErrors } from '../../core/errors/guarded.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { FaultKind } from '../../core/observe/metrics/api-metrics.ts';
import { within } from '../../lib/waits.ts';

/** Ctrl-C, the request of a supervisor to stop, and a terminal that was closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Interrupts {
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

interface FaultsOptions {
  readonly logger: Logger;
  readonly count: (kind: FaultKind) => void;
  /** Ends the process; for tests. */
  readonly exit?: (code: number) => void;
}

interface Faults {
  /** Aborted, with the error, by the first error that was not caught: the server is to stop as after SIGTERM. */
  readonly signal: AbortSignal;
  close(): void;
}

/**
 * What a server does about errors that no caller handles. Those of a listener have ended what it listened to, and are
 * logged. After any other error the state of the process is unknown: it takes no more work, finishes what is under way, and ends
 * with exit code 1. A second one meanwhile ends it at once.
 */
export function watchFaults({ logger, count, exit = (code) => process.exit(code) }: FaultsOptions): Faults {
  const controller = new AbortController();
  const stopReports = reportListenerErrors((error) => {
    count('listener');
    logger.error({ err: asError(error) }, 'a listener failed');
  });
  const uncaught = (kind: FaultKind) => (error: unknown) => {
    count(kind);
    const isFirst = !controller.signal.aborted;
    logger.error(
      { err: asError(error), kind },
      isFirst ? 'uncaught error: stopping' : 'uncaught error: ending at once',
    );
    // Lines that wait are written when the process exits.
    if (isFirst) controller.abort(asError(error));
    else exit(EXIT.unexpected);
  };
  const listeners = { uncaughtException: uncaught('exception'), unhandledRejection: uncaught('rejection') };
  // unguarded: what comes here is the error of a listener itself, and this is where such errors are reported.
  for (const [event, listener] of Object.entries(listeners)) process.on(event, listener);
  return {
    signal: controller.signal,
    close() {
      stopReports();
      for (const [event, listener] of Object.entries(listeners)) process.off(event, listener);
    },
  };
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(`not an error was thrown: ${String(error)}`);
