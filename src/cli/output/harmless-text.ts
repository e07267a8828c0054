const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

/** Text of a page on one line, without what could control a terminal. */
export const harmlessText = (text: string): string => text.replace(CONTROL, ' ');
