import type { BackupReport } from '../../capabilities/backup/installation.ts';
import type { StreamEvent } from '../../capabilities/events/stream-frames.ts';
import type { Screen } from './screen.ts';
import { details, harmlessText, wrapText } from './table.ts';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** An interval as `--every` takes it, such as 1h30m. */
export function intervalText(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}

const BULLET = '- ';

/** A heading of one or more lines, and sentences below it that fit the screen. */
export function storyOf(
  screen: Screen,
  [heading = '', ...others]: readonly string[],
  sentences: readonly string[],
): string {
  const room = (screen.columns ?? Number.POSITIVE_INFINITY) - BULLET.length;
  const lines = sentences.flatMap((sentence) =>
    wrapText(harmlessText(sentence), room).map((line, at) => `${at === 0 ? BULLET : '  '}${line}`),
  );
  return `${[screen.paint('bold', harmlessText(heading)), ...others.map(harmlessText), ...lines].join('\n')}\n`;
}

/** What a backup holds, as the commands print it; `done` is their first line. */
export function backupSummary(screen: Screen, done: string, { tables, bodies, vault }: BackupReport): string {
  const rows = Object.entries(tables)
    .filter(([, figures]) => figures.rows > 0)
    .map(([name, figures]) => [name, `${figures.rows} rows`, figures.digest.slice(0, 16)]);
  const absent = bodies.absent === 0 ? [] : [['bodies that were missing already', `${bodies.absent}`]];
  const figures = [...rows, ['bodies', `${bodies.count}`, `${bodies.bytes} bytes`], ...absent];
  return `${done}\n${details(screen, figures)}${keyLine(vault)}`;
}

function keyLine({ keyId, isIncluded, isKnown, writtenTo }: BackupReport['vault']): string {
  if (keyId === null) return '';
  if (writtenTo !== null) return `The vault key ${keyId} was written to ${writtenTo}.\n`;
  if (isIncluded) return `The vault key ${keyId} is in the backup: keep it as safe as the key itself.\n`;
  if (isKnown) return `Secrets are sealed with the vault key ${keyId}, which is not in the backup.\n`;
  return `Secrets are sealed with the vault key ${keyId}: set it as SCRAPIFIE_VAULT_KEY, or put its vault.key into the data folder.\n`;
}

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
