import type { PageYield } from '../../model/attempt.ts';

/** Clocks, counters and cookie notices come to this much. */
const CHANCE_TEXT = 100;
const CHANCE_LINKS = 3;
const GAIN = 1.2;

/** Whether a browser has brought noticeably more than plain HTTP, so that rendering pages like this one is worth it. */
export function hasGained(plain: PageYield, rendered: PageYield): boolean {
  // Nothing at all is a shell, however little it was waiting for.
  if (plain.textLength === 0 && plain.linkCount === 0) return rendered.textLength + rendered.linkCount > 0;
  return (
    rendered.textLength > plain.textLength * GAIN + CHANCE_TEXT ||
    rendered.linkCount > plain.linkCount * GAIN + CHANCE_LINKS
  );
}
