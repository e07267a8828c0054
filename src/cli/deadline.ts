import { ScrapifieError } from '../errors/scrapifie-error.ts';

/** Waits for the end of something, but not for ever: throws STORE_UNAVAILABLE when it takes longer. */
export async function within(ending: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = new ScrapifieError(
      'STORE_UNAVAILABLE',
      `Closing took longer than ${ms} ms; nothing is lost.`,
    );
    timer = setTimeout(() => reject(late), ms);
  });
  try {
    await Promise.race([ending, limit]);
  } finally {
    clearTimeout(timer);
  }
}
