/** Something wrong with rules, or with what they found, and where. */
export interface RuleProblem {
  /** `rules.price.css` for rules, `items.3.price` for values. */
  readonly path: string;
  readonly message: string;
  /** Of a selector or pattern: the character at fault, counted from 1. */
  readonly column?: number;
}

/** One line that says it all: `rules.price.css: column 7: …`. */
export function describeProblem({ path, column, message }: RuleProblem): string {
  return column === undefined ? `${path}: ${message}` : `${path}: column ${column}: ${message}`;
}

/** A selector, path or pattern that cannot be used. Thrown by the parsers, caught where rules are compiled. */
export class RuleSyntaxError extends Error {
  /** Offset of the character at fault; null when the whole of it is. */
  readonly position: number | null;

  constructor(position: number | null, message: string) {
    super(message);
    this.name = 'RuleSyntaxError';
    this.position = position;
  }
}

/** What stands at a place, for messages. */
export function shown(source: string, position: number): string {
  if (position >= source.length) return 'the end';
  const code = source.codePointAt(position) ?? 0;
  return code < 32
    ? `the character U+${code.toString(16).padStart(4, '0')}`
    : `\`${String.fromCodePoint(code)}\``;
}
