/** An element on the way from the picked one to the root, as far as selectors are made of it. */
export interface SelectorStep {
  readonly tag: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  /** Its place among the siblings of the same name, from 1. */
  readonly place: number;
  /** How many siblings of the same name there are, itself included. */
  readonly siblings: number;
}

export interface SelectorChoice {
  readonly selector: string;
  /** How many elements of the page it matches. */
  readonly count: number;
}

/** A name of CSS: characters that have a meaning are escaped, as in CSS.escape. */
export function cssName(name: string): string {
  return [...name]
    .map((character, index) => {
      const code = character.codePointAt(0) ?? 0;
      if (code === 0) return '\ufffd';
      const isDigit = code >= 0x30 && code <= 0x39;
      const isLeading = index === 0 || (index === 1 && name.startsWith('-'));
      if (code < 0x20 || code === 0x7f || (isDigit && isLeading)) return `\\${code.toString(16)} `;
      if (code >= 0x80 || /[\w-]/.test(character)) return name === '-' ? '\\-' : character;
      return `\\${character}`;
    })
    .join('');
}

const cssText = (text: string): string =>
  `"${text.replace(/["\\]/g, '\\$&').replace(/[\n\r\f]/g, (end) => `\\${end.charCodeAt(0).toString(16)} `)}"`;

/** Names that build tools and page builders make up anew with each release: `css-1x9ab2`, `Button_root__3kQxZ`, `ember1234`. */
const isMadeUp = (name: string): boolean =>
  name.length > 40 ||
  /\d{3,}/.test(name) ||
  /(?:^|[-_])(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{5,}$/i.test(name) ||
  /__[A-Za-z0-9]{5,}$/.test(name) ||
  /^(?:is|has)-|^(?:active|open|selected|hover|focus|visible|hidden|even|odd|first|last)$/.test(name);

/** Attributes that say what an element means, from the most to the least telling. */
const TELLING = ['itemprop', 'property', 'data-testid', 'data-test', 'data-qa', 'name', 'rel', 'role'];
/** Elements that parsers add to a page which does not have them: the rules of the server never see them. */
const ADDED = new Set(['html', 'head', 'body', 'tbody']);
const MOST_STEPS = 4;

/** Short descriptions of one element, the most robust first. */
function namesOf({ tag, id, classes, attributes }: SelectorStep): readonly string[] {
  const telling = TELLING.filter((name) => attributes[name] && attributes[name].length < 60).map(
    (name) => `${cssName(tag)}[${name}=${cssText(attributes[name] ?? '')}]`,
  );
  const stable = classes.filter((name) => !isMadeUp(name));
  return [
    ...(id !== '' && !isMadeUp(id) ? [`#${cssName(id)}`] : []),
    ...telling,
    ...stable.map((name) => `${cssName(tag)}.${cssName(name)}`),
    ...(stable.length > 1 ? [`${cssName(tag)}${stable.map((name) => `.${cssName(name)}`).join('')}`] : []),
    cssName(tag),
  ];
}

const placed = ({ tag, place, siblings }: SelectorStep): string =>
  siblings > 1 ? `${cssName(tag)}:nth-of-type(${place})` : cssName(tag);

/**
 * Selectors for the first of `steps`, an element with its ancestors, each with the number of elements that it matches on
 * the page: first those that match it alone, then, for lists, those that match others like it. They lean on ids, meaning
 * and names that people chose; places among siblings come last, because they break first.
 */
export function selectorsFor(
  steps: readonly SelectorStep[],
  countOf: (selector: string) => number,
): { readonly single: readonly SelectorChoice[]; readonly list: readonly SelectorChoice[] } {
  const [target, ...above] = steps;
  if (target === undefined) return { single: [], list: [] };
  const anchors = above.filter(({ tag }) => !ADDED.has(tag));
  const tried = new Map<string, number>();
  const count = (selector: string): number => {
    const known = tried.get(selector) ?? countOf(selector);
    tried.set(selector, known);
    return known;
  };
  const own = namesOf(target);
  for (const name of own) count(name);
  // Below an ancestor that its own name tells apart.
  for (const anchor of anchors) {
    const name = namesOf(anchor)
      .slice(0, -1)
      .find((each) => count(each) === 1);
    if (name === undefined) continue;
    for (const each of own) count(`${name} ${each}`);
    break;
  }
  const placedPath = pathByPlaces(target, anchors, count);
  const choices = [...tried].map(([selector, matches]) => ({ selector, count: matches }));
  const ofTarget = choices.filter(({ selector }) =>
    own.some((name) => selector === name || selector.endsWith(` ${name}`)),
  );
  const single = ofTarget.filter((choice) => choice.count === 1).slice(0, 4);
  return {
    single:
      placedPath === null || single.length >= 3 ? single : [...single, { selector: placedPath, count: 1 }],
    list: ofTarget
      .filter((choice) => choice.count > 1)
      .toSorted((a, b) => a.count - b.count)
      .slice(0, 4),
  };
}

/** A path of children with their places, up to an ancestor from which it is the only one. */
function pathByPlaces(
  target: SelectorStep,
  anchors: readonly SelectorStep[],
  count: (selector: string) => number,
): string | null {
  let path = placed(target);
  if (count(path) === 1) return path;
  for (const [index, anchor] of anchors.entries()) {
    for (const name of namesOf(anchor)) {
      if (count(`${name} ${path}`) === 1) return `${name} ${path}`;
    }
    if (index < MOST_STEPS || anchor.siblings > 1) path = `${placed(anchor)} ${path}`;
    if (count(path) === 1) return path;
  }
  return null;
}
