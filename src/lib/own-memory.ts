/** V8 copies strings below this length when it cuts or joins them. */
const LEAST_SHARED_CHARS = 13;
/** Room for the UTF-8 of most strings that are kept: a URL has 8,192 characters at most. */
const scratch = Buffer.allocUnsafeSlow(3 * 8_192);

/**
 * A string in memory of its own. V8 cuts a string out of a text by pointing into it, so that one link which is
 * kept keeps the text of its whole page. What is kept longer than the text it may be a part of goes through here.
 */
export function ownString<Text extends string>(text: Text): Text;
export function ownString(text: string): string {
  if (text.length < LEAST_SHARED_CHARS) return text;
  const bytes = text.length * 3 > scratch.length ? Buffer.from(text) : scratch;
  const end = bytes === scratch ? scratch.write(text) : bytes.length;
  const copy = bytes.toString('utf8', 0, end);
  // UTF-8 has no halves of surrogate pairs.
  return copy === text ? copy : Buffer.from(text, 'utf16le').toString('utf16le');
}

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
