const INDENT = '  ';

/**
 * Valid JSON with a line for each value. It works on the text itself, so that numbers stay as they were written and keys
 * that stand twice stay both. Cut after `limit` characters.
 */
export function prettyJson(json: string, limit: number): string {
  const out: string[] = [];
  let length = 0;
  let depth = 0;
  const put = (piece: string): void => {
    out.push(piece);
    length += piece.length;
  };
  const breakLine = (): void => put(`\n${INDENT.repeat(depth)}`);
  let at = 0;
  while (at < json.length && length < limit) {
    const char = json[at] ?? '';
    if (char === '"') {
      const end = stringEnd(json, at);
      put(json.slice(at, end));
      at = end;
    } else if (char === '{' || char === '[') {
      const next = skipSpace(json, at + 1);
      if (json[next] === '}' || json[next] === ']') {
        put(char + json[next]);
        at = next + 1;
        continue;
      }
      depth++;
      put(char);
      breakLine();
      at = next;
    } else if (char === '}' || char === ']') {
      depth--;
      breakLine();
      put(char);
      at++;
    } else if (char === ',') {
      put(char);
      breakLine();
      at++;
    } else if (char === ':') {
      put(': ');
      at++;
    } else if (isSpace(char)) at++;
    else {
      const end = literalEnd(json, at);
      put(json.slice(at, end));
      at = end;
    }
  }
  const text = out.join('');
  return text.length > limit ? text.slice(0, limit) : text;
}

function stringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const char = json[at];
    if (char === '\\') at++;
    else if (char === '"') return at + 1;
  }
  return json.length;
}

function literalEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && !',]}'.includes(json[at] ?? '') && !isSpace(json[at] ?? '')) at++;
  return at;
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (at < json.length && isSpace(json[at] ?? '')) at++;
  return at;
}

const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t';
