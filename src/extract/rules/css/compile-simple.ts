import { hashName, TAG } from '../../html/names.ts';
import { RAW_TEXT } from '../../tree/page-tree.ts';
import { RULE_LIMITS } from '../rule-text.ts';
import {
  type AttributeSelector,
  type ComplexSelector,
  MATCHES,
  type Match,
  type NthSelector,
  type PlainPseudo,
  type SelectorList,
  type SelectScope,
  type SimpleSelector,
  type Test,
} from './selector.ts';

const ID = hashName('id');
const CLASS = hashName('class');
const HREF = hashName('href');
const TYPE = hashName('type');
const CHECKED = hashName('checked');
const SELECTED = hashName('selected');
const DISABLED = hashName('disabled');
const SPACES = /[ \t\n\r\f]+/;
const BLANK = /^[ \t\n\r\f]*$/;

/**
 * Compiles a whole selector that stands inside of `:is`, `:not`, `:has` or `:nth-child(… of …)`. The compiler of whole
 * selectors imports this file, so this file gets it as an argument.
 */
type CompileComplex = (complex: ComplexSelector) => Match;

export function compileSimple(simple: SimpleSelector, compile: CompileComplex): Test {
  switch (simple.kind) {
    case 'any':
      return () => true;
    case 'tag':
      return tagTest(simple.name);
    case 'id':
      return (scope, node) => scope.index.tree.attribute(node, ID) === simple.id;
    case 'class':
      return (scope, node) => hasWord(scope.index.tree.attribute(node, CLASS), simple.name);
    case 'attribute':
      return attributeTest(simple);
    case 'is':
      return listTest(simple.list, compile);
    case 'not': {
      const test = listTest(simple.list, compile);
      return (scope, node) => !test(scope, node);
    }
    case 'has':
      return hasTest(simple.list, compile);
    case 'nth':
      return nthTest(simple, compile);
    case 'contains':
      return containsTest(simple.text);
    case 'plain':
      return PLAIN[simple.name];
  }
}

function tagTest(name: string): Test {
  const hash = hashName(name);
  return (scope, node) => scope.index.tree.isNamed(node, hash);
}

/** True when a space-separated list, as in `class`, contains the word. */
function hasWord(list: string | null, word: string): boolean {
  if (list === null || word === '') return false;
  for (let at = list.indexOf(word); at >= 0; at = list.indexOf(word, at + 1)) {
    const after = at + word.length;
    if (
      (at === 0 || isSpace(list.charCodeAt(at - 1))) &&
      (after === list.length || isSpace(list.charCodeAt(after)))
    ) {
      return true;
    }
  }
  return false;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13 && code !== 11);
}

function attributeTest({ name, operator, value: wanted, ignoresCase }: AttributeSelector): Test {
  const hash = hashName(name);
  const value = ignoresCase ? wanted.toLowerCase() : wanted;
  const compare = comparison(operator, value);
  return (scope, node) => {
    const found = scope.index.tree.attribute(node, hash);
    if (found === null) return operator === '!=';
    return compare(ignoresCase ? found.toLowerCase() : found);
  };
}

function comparison(operator: AttributeSelector['operator'], value: string): (found: string) => boolean {
  switch (operator) {
    case null:
      return () => true;
    case '=':
      return (found) => found === value;
    case '!=':
      return (found) => found !== value;
    case '~=':
      return (found) => !SPACES.test(value) && hasWord(found, value);
    case '|=':
      return (found) => found === value || found.startsWith(`${value}-`);
    // By the standard, an empty text is never found in another one.
    case '^=':
      return (found) => value !== '' && found.startsWith(value);
    case '$=':
      return (found) => value !== '' && found.endsWith(value);
    case '*=':
      return (found) => value !== '' && found.includes(value);
  }
}

function listTest(list: SelectorList, compile: CompileComplex): Test {
  const matchers = list.map(compile);
  return (scope, node) => {
    for (const match of matchers) {
      scope.budget.spend(1);
      if (match(scope, node) === MATCHES) return true;
    }
    return false;
  };
}

function hasTest(list: SelectorList, compile: CompileComplex): Test {
  const parts = list.map((complex) => {
    const leading = complex.leading ?? ' ';
    const match = compile({ ...complex, leading });
    return { match, isBehind: leading === '+' || leading === '~', isFlat: isFlat(complex) };
  });
  return (scope, node) => parts.some((part) => hasInRange(scope, node, part));
}

/** True for `> a` and `~ a` alone, which need no search of deeper levels. */
function isFlat({ leading, compounds }: ComplexSelector): boolean {
  return compounds.length === 1 && leading !== null && leading !== ' ';
}

interface HasPart {
  readonly match: Match;
  readonly isBehind: boolean;
  readonly isFlat: boolean;
}

function hasInRange(scope: SelectScope, node: number, { match, isBehind, isFlat: skips }: HasPart): boolean {
  const { index, budget, anchor } = scope;
  const { ends, parents } = index.tree;
  const end = ends[node] as number;
  const from = isBehind ? end : node + 1;
  const to = isBehind ? (ends[parents[node] as number] as number) : end;
  scope.anchor = node;
  try {
    for (let at = from; at < to; at = skips ? (ends[at] as number) : at + 1) {
      budget.spend(1);
      if (index.isElement(at) && match(scope, at) === MATCHES) return true;
    }
    return false;
  } finally {
    scope.anchor = anchor;
  }
}

function nthTest({ name, step, offset, of }: NthSelector, compile: CompileComplex): Test {
  const isLast = name.includes('last');
  if (of !== null) {
    const test = listTest(of, compile);
    return (scope, node) => test(scope, node) && isNth(placeAmong(scope, node, isLast, test), step, offset);
  }
  if (name.endsWith('type')) {
    return isLast
      ? (scope, node) => isNth(scope.index.typePositionFromEnd(node), step, offset)
      : (scope, node) => isNth(scope.index.typePosition(node), step, offset);
  }
  return isLast
    ? (scope, node) => isNth(scope.index.positionFromEnd(node), step, offset)
    : (scope, node) => isNth(scope.index.position(node), step, offset);
}

function isNth(position: number, step: number, offset: number): boolean {
  const distance = position - offset;
  return step === 0 ? distance === 0 : distance % step === 0 && distance / step >= 0;
}

function placeAmong(scope: SelectScope, node: number, isLast: boolean, test: Test): number {
  const { index, budget } = scope;
  const { tree } = index;
  let place = 1;
  if (!isLast) {
    for (let at = index.previous(node); at >= 0; at = index.previous(at)) if (test(scope, at)) place++;
    return place;
  }
  const end = tree.ends[tree.parents[node] as number] as number;
  for (let at = tree.ends[node] as number; at < end; at = tree.ends[at] as number) {
    budget.spend(1);
    if (index.isElement(at) && test(scope, at)) place++;
  }
  return place;
}

function containsTest(text: string): Test {
  return ({ index, budget }, node) => {
    const inside = (index.tree.ends[node] as number) - node;
    budget.spend(inside);
    return index.tree.textOf(node, RULE_LIMITS.valueChars).includes(text);
  };
}

/** True for elements with white space only. */
const isEmpty: Test = ({ index: { tree } }, node) => {
  const end = tree.ends[node] as number;
  for (let at = node + 1; at < end; at++) {
    if ((tree.tags[at] as number) < RAW_TEXT || !BLANK.test(tree.text(at))) return false;
  }
  return true;
};

const isLink: Test = ({ index: { tree } }, node) =>
  (tree.tags[node] === TAG.a || tree.tags[node] === TAG.area) && tree.attribute(node, HREF) !== null;

const isChecked: Test = ({ index: { tree } }, node) => {
  if (tree.tags[node] === TAG.option) return tree.attribute(node, SELECTED) !== null;
  if (tree.tags[node] !== TAG.input || tree.attribute(node, CHECKED) === null) return false;
  return /^(?:checkbox|radio)$/i.test(tree.attribute(node, TYPE) ?? '');
};

const CONTROLS: ReadonlySet<number> = new Set([
  TAG.input,
  TAG.button,
  TAG.select,
  TAG.textarea,
  TAG.option,
  TAG.optgroup,
  TAG.fieldset,
]);

function controlTest(isDisabled: boolean): Test {
  return ({ index: { tree } }, node) =>
    CONTROLS.has(tree.tags[node] as number) && (tree.attribute(node, DISABLED) !== null) === isDisabled;
}

const PLAIN: Readonly<Record<PlainPseudo, Test>> = {
  root: ({ index }, node) => index.tree.parents[node] === 0 && index.position(node) === 1,
  scope: ({ index, scope }, node) =>
    scope === 0 ? index.tree.parents[node] === 0 && index.position(node) === 1 : node === scope,
  empty: isEmpty,
  'first-child': ({ index }, node) => index.position(node) === 1,
  'last-child': ({ index }, node) => index.positionFromEnd(node) === 1,
  'only-child': ({ index }, node) => index.position(node) === 1 && index.positionFromEnd(node) === 1,
  'first-of-type': ({ index }, node) => index.typePosition(node) === 1,
  'last-of-type': ({ index }, node) => index.typePositionFromEnd(node) === 1,
  'only-of-type': ({ index }, node) =>
    index.typePosition(node) === 1 && index.typePositionFromEnd(node) === 1,
  'any-link': isLink,
  link: isLink,
  checked: isChecked,
  disabled: controlTest(true),
  enabled: controlTest(false),
};
