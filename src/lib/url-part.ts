/**
 * Text as a part of a path or of a query. A half of a surrogate pair, which no URL can have and for which
 * `encodeURIComponent` throws, becomes U+FFFD: an id with one then is the id of nothing, and not a fault of the program.
 */
export const urlPart = (text: string): string => encodeURIComponent(text.toWellFormed());
