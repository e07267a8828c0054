/** The known name that a misspelt one most likely stands for, or null when none is close. */
export function nearestName(misspelt: string, known: Iterable<string>): string | null {
  const wanted = letters(misspelt);
  let best: string | null = null;
  // A third of the letters may be wrong: further off, a suggestion confuses more than it helps.
  let bestDistance = Math.floor(wanted.length / 3) + 1;
  for (const name of known) {
    const distance = editDistance(wanted, letters(name), bestDistance);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Case, underscores and the prefix all names share say nothing about which one was meant. */
function letters(name: string): string {
  return name
    .toUpperCase()
    .replace(/^SCRAPIFIE_/, '')
    .replaceAll('_', '');
}

/**
 * Letters to insert, remove or replace, and neighbours to swap, to get from `a` to `b`; any number ≥ `limit` means "too many".
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  let twoAbove = above;
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwapped ? (twoAbove[column - 2] ?? 0) + 1 : limit;
      current.push(Math.min(replaced, swapped, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    twoAbove = above;
    above = current;
  }
  return above[b.length] ?? limit;
}
