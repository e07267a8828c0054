/** The memory of bytes that share it with no others, which can be handed to another thread or given back. */
export function ownBuffer({ buffer, byteLength }: Uint8Array): ArrayBuffer | null {
  const isOwn = byteLength > 0 && byteLength === buffer.byteLength;
  return isOwn && buffer instanceof ArrayBuffer ? buffer : null;
}

/**
 * Gives the memory of bytes back now, for those who read many: the garbage collector would wait for its next large
 * round, and pages would lie there by the thousand. Nobody may look at the bytes again.
 */
export function releaseBytes(bytes: Uint8Array): void {
  ownBuffer(bytes)?.transfer(0);
}
