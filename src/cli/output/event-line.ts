import type { StreamEvent } from '../../capabilities/events/parse-stream.ts';

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value));

/** An event of a job as a line for people; empty for progress, which the lines of the pages show. */
export function eventLine({ type, data }: StreamEvent): string {
  switch (type) {
    case 'page.done':
      return line(text(data.statusCode).padEnd(4), text(data.url), text(data.title));
    case 'page.failed':
      return line('!   ', text(data.url), `${text(data.errorCode)}: ${text(data.errorMessage)}`);
    case 'log':
      return line('…   ', text(data.message));
    case 'gap':
      return line('?   ', text(data.message));
    case 'progress':
      return '';
    case 'end':
      return line(`The job has ended: ${text(data.status)}.`);
    default:
      return line(text(data.at), type, summary(data));
  }
}

function summary({ progress, stopReason }: StreamEvent['data']): string {
  const { pages, failed, open } = (progress ?? {}) as Readonly<Record<string, number>>;
  const counted = pages === undefined ? '' : `${pages} pages, ${failed} failed, ${open} open`;
  return [counted, text(stopReason)].filter((part) => part !== '').join(', ');
}

/** Titles of pages must not move the cursor of the terminal. */
const line = (...parts: readonly string[]): string =>
  `${parts
    .filter((part) => part !== '')
    .join('  ')
    .replace(/\p{Cc}+/gu, ' ')}\n`;
