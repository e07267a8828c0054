/** The memory of bytes that share it with no others, which can be handed to another thread or given back. */
export function ownBuffer({ buffer, byteLength }: Uint8Array): ArrayBuffer | null {
  const isOwn = byteLength > 0 && byteLength === buffer.byteLength;
  return isOwn && buffer instanceof ArrayBuffer ? buffer : null;
}

/**
 * Frees the memory of bytes now, for code that reads many: the garbage collector would wait for its next large
 * cycle, with thousands of pages in memory. The bytes must not be read again.
 */
export function releaseBytes(bytes: Uint8Array): void {
  ownBuffer(bytes)?.transfer(0);
}
