const TICKS = /`{3,}/g;

/** A text as a code block of Markdown, with a fence that it does not hold itself. */
export function fenced(text: string, language: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(TICKS)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`;
}
