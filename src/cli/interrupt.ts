import { EXIT } from '../errors/registry.ts';

/** Ctrl-C, and the wish of a supervisor that the process ends. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface Interrupts {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Signals end the process again as they usually do. */
  close(): void;
}

/** The first signal asks to stop cleanly, the second ends the process at once, after `onSecond`. */
export function watchInterrupts(onSecond: () => void = () => undefined): Interrupts {
  const controller = new AbortController();
  const listen = (): void => {
    if (controller.signal.aborted) {
      onSecond();
      process.exit(EXIT.interrupted);
    }
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, listen);
  return {
    signal: controller.signal,
    close() {
      for (const name of SIGNALS) process.off(name, listen);
    },
  };
}
