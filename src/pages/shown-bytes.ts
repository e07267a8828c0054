import { isMarkedAsUntransferable } from 'node:worker_threads';
import type { ShownPage } from './page-reading.ts';

/**
 * A shown page as it may cross to a thread: plain data without what belongs to sessions, and every part of its bytes
 * alone on its memory, so that it can be given away.
 */
export function ownedShownPage({ rawBody, extra, failure }: ShownPage): ShownPage {
  const { screenshot, pdf, xhr, actions, consoleErrors } = extra;
  return {
    rawBody: rawBody === null ? null : owned(rawBody),
    extra: {
      screenshot: screenshot === null ? null : { ...screenshot, bytes: owned(screenshot.bytes) },
      pdf: pdf === null ? null : owned(pdf),
      xhr: xhr.map((each) => ({ ...each, body: each.body === null ? null : owned(each.body) })),
      actions: actions.map(({ picture, ...each }) =>
        picture === undefined ? each : { ...each, picture: { ...picture, bytes: owned(picture.bytes) } },
      ),
      consoleErrors: [...consoleErrors],
    },
    failure:
      failure === null
        ? null
        : { code: failure.code, message: failure.message, details: plain(failure.details) },
  };
}

/** Everything that can be given away of it, each once. */
export function shownBuffers({ rawBody, extra }: ShownPage): ArrayBuffer[] {
  const { screenshot, pdf, xhr, actions } = extra;
  const parts = [
    rawBody,
    screenshot?.bytes,
    pdf,
    ...xhr.map(({ body }) => body),
    ...actions.map(({ picture }) => picture?.bytes),
  ];
  const buffers = new Set<ArrayBuffer>();
  for (const part of parts) {
    if (part && part.byteLength > 0 && part.buffer instanceof ArrayBuffer) buffers.add(part.buffer);
  }
  return [...buffers];
}

/** Node's small buffers share their memory; giving one away would take it from the others. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isAlone = bytes.byteLength === buffer.byteLength;
  if (isAlone && buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) {
    return new Uint8Array(buffer);
  }
  return new Uint8Array(bytes);
}

/** Details of an error may hold anything; only data crosses. */
function plain(details: unknown): unknown {
  return details === undefined ? undefined : (JSON.parse(JSON.stringify(details)) as unknown);
}
