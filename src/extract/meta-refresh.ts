const MOST_CHARS = 8_192;

/** The address that the content of a `<meta http-equiv="refresh">` leads to (`5; url='/next'`); null when it only reloads. */
export function refreshTarget(content: string): string | null {
  if (content.length > MOST_CHARS) return null;
  const rest = content.trimStart().replace(/^[\d.]+/, '');
  const separated = rest.trimStart();
  const hasMark = separated.startsWith(';') || separated.startsWith(',');
  if (!hasMark && separated.length === rest.length) return null;
  const target = (hasMark ? separated.slice(1).trimStart() : separated).replace(/^url\s*=\s*/i, '');
  const quote = target.charAt(0);
  if (quote !== '"' && quote !== "'") return target.trim() || null;
  const end = target.indexOf(quote, 1);
  return target.slice(1, end < 0 ? undefined : end).trim() || null;
}
