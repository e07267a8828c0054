import { reportListenerErrors } from '../../core/errors/guarded.ts';
import { EXIT } from '../../core/errors/registry.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { FaultKind } from '../../core/observe/metrics/api-metrics.ts';

export interface FaultsOptions {
  readonly logger: Logger;
  readonly count: (kind: FaultKind) => void;
  /** Ends the process; for tests. */
  readonly exit?: (code: number) => void;
}

export interface Faults {
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
