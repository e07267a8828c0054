/** Where reading delimited text stopped, and what was odd in it. */
export interface DelimitedRows {
  readonly rows: readonly (readonly string[])[];
  /** A quote was opened and never closed; from there on quotes are ordinary signs. */
  readonly hasOpenQuote: boolean;
  /** A limit cut it off. */
  readonly isCut: boolean;
}

export interface DelimitedLimits {
  readonly rows: number;
  readonly columns: number;
  readonly cells: number;
}

/**
 * Splits delimited text into rows, as RFC 4180 has it and a little beyond: lines end in any of the three ways, a quote
 * inside a cell without quotes is itself, what follows a closing quote still belongs to the cell, empty lines are no
 * rows. Linear in the length of the text.
 */
export function splitRows(text: string, delimiter: string, limits: DelimitedLimits): DelimitedRows {
  const rows: (readonly string[])[] = [];
  let row: string[] = [];
  let cells = 0;
  let at = 0;
  let hasOpenQuote = false;
  let isCut = false;
  const plainEnd = new RegExp(`[${delimiter === '\t' ? '\\t' : `\\${delimiter}`}\\r\\n]|$`, 'g');

  while (at < text.length) {
    let cell = '';
    if (text[at] === '"' && !hasOpenQuote) {
      const quoted = readQuoted(text, at);
      if (quoted === null) hasOpenQuote = true;
      else {
        cell = quoted.value;
        at = quoted.end;
      }
    }
    plainEnd.lastIndex = at;
    const end = plainEnd.exec(text)?.index ?? text.length;
    cell += text.slice(at, end);
    if (row.length < limits.columns) row.push(cell);
    else isCut = true;
    if (text[end] === delimiter) {
      at = end + 1;
      // A delimiter at the very end of the text is followed by an empty cell.
      if (at < text.length) continue;
      row.push('');
    }
    at = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : Math.max(at, end + 1);
    if (row.length === 1 && row[0] === '') {
      row = [];
      continue;
    }
    cells += row.length;
    rows.push(row);
    row = [];
    if (at < text.length && (rows.length >= limits.rows || cells >= limits.cells)) {
      isCut = true;
      break;
    }
  }
  return { rows, hasOpenQuote, isCut };
}

/** The value that begins with the quote at `start`, and where it ends; null when no quote ends it. */
function readQuoted(text: string, start: number): { readonly value: string; readonly end: number } | null {
  let from = start + 1;
  let value = '';
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return null;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
}
