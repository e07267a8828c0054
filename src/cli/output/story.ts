import { harmlessText } from './harmless-text.ts';
import type { Screen } from './screen.ts';
import { wrapText } from './text-width.ts';

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
