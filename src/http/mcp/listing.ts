import { defined } from '../../lib/defined.ts';
import { ApiFailure } from './api-call.ts';
import { portionOf, siteParts, tokensIn } from './token-budget.ts';
import { json, type LinkPart, type Part, text } from './tool.ts';

/** Room for the heading of a result, which is not cut. */
export const HEAD_TOKENS = 150;
/** Items that are asked of the API at once. */
export const LISTED_AT_ONCE = 100;

/** Where a result goes on: after which page of the API's list, and how many items of the next page were shown. */
interface ListPlace {
  readonly list: string | undefined;
  readonly skip: number;
}

/** The place that a cursor names; the beginning when there is none. */
export function listPlaceOf(cursor: string | undefined): ListPlace {
  const { list, skip } = cursor === undefined ? {} : readCursor(cursor);
  return {
    list: typeof list === 'string' ? list : undefined,
    skip: typeof skip === 'number' && Number.isInteger(skip) && skip > 0 ? skip : 0,
  };
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

interface Showing<T> {
  readonly most: number;
  /** One line, or a link. */
  readonly show: (item: T) => string | LinkPart;
  /** What is said when the list has no items. */
  readonly empty: string;
  /** The items have texts or URLs that sites have written. */
  readonly isFromSites: boolean;
}

/** As many items as the tokens allow, at least one, and the cursor with which the same tool goes on. */
export function listParts<T>(
  { items, nextCursor }: Listed<T>,
  { list, skip }: ListPlace,
  { most, show, empty, isFromSites }: Showing<T>,
): readonly Part[] {
  let parts: Part[] = [];
  let lines: string[] = [];
  const endLines = () => {
    if (lines.length > 0) parts.push(text(lines.join('\n')));
    lines = [];
  };
  const ended = (place: Readonly<Record<string, string | number>> | null): readonly Part[] => {
    endLines();
    if (parts.length === 0) parts.push(text(empty));
    else if (isFromSites) parts = [...siteParts(parts)];
    if (place !== null) parts.push(text(`More: call again with cursor ${cursorOf(place)}`));
    return parts;
  };
  let tokens = HEAD_TOKENS;
  for (const [index, item] of items.entries()) {
    if (index < skip) continue;
    const shown = show(item);
    tokens += tokensIn(typeof shown === 'string' ? `${shown}\n` : json(shown));
    const isFirst = parts.length === 0 && lines.length === 0;
    if (tokens > most && !isFirst) return ended({ skip: index, ...defined({ list }) });
    if (typeof shown === 'string') lines.push(portionOf(shown, 0, most - HEAD_TOKENS).text);
    else {
      endLines();
      parts.push(shown);
    }
  }
  return ended(nextCursor === null ? null : { list: nextCursor });
}

/** Only these fields of an object, those without a value left out: what models need, in few tokens. */
export function onlyFields(value: object, names: readonly string[]): string {
  const entries = Object.entries(value).filter(
    ([name, each]) => names.includes(name) && each !== null && each !== undefined,
  );
  return json(Object.fromEntries(entries));
}

/** Where a long result goes on: values that only this program reads, as one word. */
export function cursorOf(values: Readonly<Record<string, string | number>>): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Throws VALIDATION_FAILED for a text that is no cursor. */
export function readCursor(cursor: string): Readonly<Record<string, unknown>> {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof values === 'object' && values !== null) return values as Record<string, unknown>;
  } catch {
    // Not written by this program.
  }
  throw new ApiFailure('VALIDATION_FAILED', 'The cursor is not one that a call has returned.', []);
}
