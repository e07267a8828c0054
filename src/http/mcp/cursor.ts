import { ApiFailure } from './api-call.ts';

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
