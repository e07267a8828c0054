/** A mistake in rules, or in a value they found, with its path. */
export interface RuleProblem {
  /** `rules.price.css` for rules, `items.3.price` for values. */
  readonly path: string;
  readonly message: string;
  /** Column of the mistake in a selector or pattern, from 1. */
  readonly column?: number;
}

/** One line with path, column and message: `rules.price.css: column 7: …`. */
export function describeProblem({ path, column, message }: RuleProblem): string {
  return column === undefined ? `${path}: ${message}` : `${path}: column ${column}: ${message}`;
}

/** An invalid selector, path or pattern. Thrown by the parsers, caught where rules are compiled. */
export class RuleSyntaxError extends Error {
  /** Offset of the mistake; null when it concerns the whole text. */
  readonly position: number | null;

  constructor(position: number | null, message: string) {
    super(message);
    this.name = 'RuleSyntaxError';
    this.position = position;
  }
}

/** The character at a position, quoted for error messages. */
export function quoteAt(source: string, position: number): string {
  if (position >= source.length) return 'the end';
  const code = source.codePointAt(position) ?? 0;
  return code < 32
    ? `the character U+${code.toString(16).padStart(4, '0')}`
    : `\`${String.fromCodePoint(code)}\``;
}
