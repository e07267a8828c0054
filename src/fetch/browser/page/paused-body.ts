import type { CDPSession } from 'patchright-core';

export type Body = Uint8Array<ArrayBuffer>;

const CHUNK_BYTES = 1_048_576;

/** Reads the body of an answer that is held back, at most to the limit. The answer cannot be passed on afterwards. */
export async function readPausedBody(
  cdp: CDPSession,
  requestId: string,
  maxBytes: number,
  tooLarge: (limit: number) => Error,
): Promise<Body> {
  const { stream: handle } = await cdp.send('Fetch.takeResponseBodyAsStream', { requestId });
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for (let isOver = false; !isOver; ) {
      const { data, eof, base64Encoded } = await cdp.send('IO.read', { handle, size: CHUNK_BYTES });
      const part = Buffer.from(data, base64Encoded === true ? 'base64' : 'utf8');
      length += part.length;
      if (length > maxBytes) throw tooLarge(maxBytes);
      parts.push(part);
      isOver = eof;
    }
  } finally {
    cdp.send('IO.close', { handle }).catch(() => {});
  }
  return ownBytes(Buffer.concat(parts));
}

/** A copy alone on its memory, which Node's small buffers are not. */
export function ownBytes(buffer: Buffer): Body {
  const bytes = new Uint8Array(buffer.length);
  bytes.set(buffer);
  return bytes;
}
