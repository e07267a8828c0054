/** Ends a wait early. */
export interface Bell {
  ring(): void;
  /** Resolves when it rings, or rang since the last wait, or after that time. */
  wait(ms: number): Promise<void>;
}

export function createBell(): Bell {
  let hasRung = false;
  let onRing: () => void = () => undefined;
  return {
    ring() {
      hasRung = true;
      onRing();
    },
    async wait(ms) {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          onRing = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      onRing = () => undefined;
      hasRung = false;
    },
  };
}

/** Waits for the work, at most this long. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
