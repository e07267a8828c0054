import { parseCondition } from './parse-condition.ts';
import type { Query, Segment, Selector } from './query.ts';
import { QueryReader } from './reader.ts';

/** Throws RuleSyntaxError with the place at fault. */
export function parseQuery(source: string): Query {
  const reader = new QueryReader(source);
  if (!reader.take('$')) reader.unexpected('`$`');
  const query: Query = { from: '$', segments: parseSegments(reader, 0) };
  if (!reader.isAtEnd) reader.unexpected('`.`, `[` or the end');
  return query;
}

/** What follows `$` or `@`; white space is part of it only before another segment. */
export function parseSegments(reader: QueryReader, depth: number): Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const start = reader.at;
    reader.skipBlank();
    if (reader.take('..')) segments.push({ isDescendant: true, selectors: afterDots(reader, depth, true) });
    else if (reader.take('.'))
      segments.push({ isDescendant: false, selectors: afterDots(reader, depth, false) });
    else if (reader.take('[')) segments.push({ isDescendant: false, selectors: bracketed(reader, depth) });
    else {
      reader.at = start;
      return segments;
    }
  }
}

function afterDots(reader: QueryReader, depth: number, mayBracket: boolean): Selector[] {
  if (reader.take('*')) return [{ kind: 'any' }];
  if (mayBracket && reader.take('[')) return bracketed(reader, depth);
  const name = reader.shortName();
  return name === null
    ? reader.unexpected(
        mayBracket ? 'a name, `*` or `[`' : 'a name or `*`; other names go in brackets and quotes',
      )
    : [{ kind: 'name', name }];
}

function bracketed(reader: QueryReader, depth: number): Selector[] {
  const selectors: Selector[] = [];
  do {
    reader.skipBlank();
    selectors.push(selector(reader, depth));
    reader.skipBlank();
  } while (reader.take(','));
  reader.expect(']');
  return selectors;
}

function selector(reader: QueryReader, depth: number): Selector {
  if (reader.isAtString) return { kind: 'name', name: reader.string() };
  if (reader.take('*')) return { kind: 'any' };
  if (reader.take('?')) return { kind: 'filter', condition: parseCondition(reader, depth + 1) };
  const start = reader.integer();
  const afterStart = reader.at;
  reader.skipBlank();
  if (!reader.take(':')) {
    reader.at = afterStart;
    return start === null
      ? reader.unexpected('a name in quotes, `*`, an index, a slice or a filter')
      : { kind: 'index', index: start };
  }
  reader.skipBlank();
  const end = reader.integer();
  reader.skipBlank();
  if (!reader.take(':')) return { kind: 'slice', start, end, step: 1 };
  reader.skipBlank();
  return { kind: 'slice', start, end, step: reader.integer() ?? 1 };
}
