/** Ends a wait early. */
export interface Notifier {
  notify(): void;
  /** Resolves when it is notified, or was since the last wait, or after that time. */
  wait(ms: number): Promise<void>;
}

export function createNotifier(): Notifier {
  let isNotified = false;
  let endWait: () => void = () => undefined;
  return {
    notify() {
      isNotified = true;
      endWait();
    },
    async wait(ms) {
      if (!isNotified) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endWait = () => undefined;
      isNotified = false;
    },
  };
}
