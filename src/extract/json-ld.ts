import { LIMITS } from './limits.ts';

const WRAPPERS = /^\s*(?:\/[/*]\s*)?(?:<!--|<!\[CDATA\[)|(?:\/[/*]\s*)?(?:-->|\]\]>)(?:\s*\*\/)?\s*$/g;

/** The value of a JSON-LD block; undefined when it is broken, too large or nested too deep to hand on. */
export function parseJsonLd(source: string): unknown {
  if (source.length > LIMITS.jsonLdChars) return undefined;
  const value = parse(source) ?? parse(source.replace(WRAPPERS, ''));
  return value === null || typeof value !== 'object' || !isShallow(value, LIMITS.jsonLdDepth)
    ? undefined
    : value;
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

/** JSON.parse nests as deep as its input; whoever writes the value out again would run out of stack. */
function isShallow(value: object, depth: number): boolean {
  if (depth === 0) return false;
  for (const child of Object.values(value) as unknown[]) {
    if (child !== null && typeof child === 'object' && !isShallow(child, depth - 1)) return false;
  }
  return true;
}
