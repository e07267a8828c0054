/** What the promise comes to, or a rejection when it takes longer. What was asked of it goes on unheard. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // One turn of the loop more: after a pause of this process the answer may lie there unread.
    timer = setTimeout(
      () => setImmediate(() => reject(new Error(`no answer within ${limitMs} ms`))),
      limitMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
