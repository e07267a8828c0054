/** Classes of the style sheet that colour a piece of code: comment, string, number, keyword, name of a field or option. */
type Kind = 'c' | 's' | 'n' | 'k' | 'f';

/** What is looked for in a language, in the order in which it wins. Each pattern is sticky. */
type Rules = readonly (readonly [Kind, RegExp])[];

const words = (list: string): RegExp => new RegExp(`\\b(?:${list.replaceAll(' ', '|')})\\b`, 'y');
const DOUBLE = /"(?:\\.|[^"\\])*"/y;
const SINGLE = /'(?:\\.|[^'\\\n])*'/y;
const NUMBER = /\b\d[\d_]*(?:\.\d+)?\b/y;

const SHELL: Rules = [
  ['c', /(?<![^\s])#[^\n]*/y],
  ['s', /'[^']*'/y],
  ['s', DOUBLE],
  ['f', /(?<![\w-])--?[A-Za-z][\w-]*/y],
  ['n', /\$\{?\w+\}?/y],
  [
    'k',
    /(?<=^|\n|[|&;(] *)(?:\.\/)?(?:scrapifie|curl|make|npm|npx|pip|go|docker|export|duckdb|jq|python3?|node)\b/y,
  ],
];
const SCRIPT: Rules = [
  ['c', /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ['s', DOUBLE],
  ['s', SINGLE],
  ['s', /`(?:\\.|[^`\\])*`/y],
  [
    'k',
    words(
      'import from export const let function async await for of in if else return new class type interface',
    ),
  ],
  ['n', NUMBER],
];
const LANGUAGES: Readonly<Record<string, Rules>> = {
  sh: SHELL,
  bash: SHELL,
  json: [
    ['f', /"(?:\\.|[^"\\])*"(?=\s*:)/y],
    ['s', DOUBLE],
    ['k', words('true false null')],
    ['n', NUMBER],
  ],
  yaml: [
    ['c', /(?<![^\s])#[^\n]*/y],
    ['f', /[\w.-]+(?=:(?:\s|$))/y],
    ['s', DOUBLE],
    ['s', SINGLE],
    ['k', words('true false null')],
    ['n', NUMBER],
  ],
  ts: SCRIPT,
  js: SCRIPT,
  go: [['k', words('package func range defer nil err :=')], ...SCRIPT],
  python: [
    ['c', /#[^\n]*/y],
    ['s', /"""[\s\S]*?"""/y],
    ['s', DOUBLE],
    ['s', SINGLE],
    ['k', words('import from as with for in if else def class return await async print not None True False')],
    ['n', NUMBER],
  ],
  sql: [
    ['c', /--[^\n]*/y],
    ['s', SINGLE],
    [
      'k',
      /\b(?:select|from|where|group|by|order|limit|as|and|or|join|on|count|distinct|desc|having|with|not|null|is|in|like|copy|to)\b/iy,
    ],
    ['n', NUMBER],
  ],
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** The code as HTML with the parts marked that a reader looks for. A language that is not known is only escaped. */
export function highlight(code: string, language: string): string {
  const rules = LANGUAGES[language];
  if (rules === undefined) return escapeHtml(code);
  let html = '';
  let plainFrom = 0;
  for (let at = 0; at < code.length; ) {
    const found = matchAt(rules, code, at);
    if (found === null) {
      at += 1;
      continue;
    }
    const [kind, text] = found;
    html += `${escapeHtml(code.slice(plainFrom, at))}<span class="t-${kind}">${escapeHtml(text)}</span>`;
    at += text.length;
    plainFrom = at;
  }
  return html + escapeHtml(code.slice(plainFrom));
}

function matchAt(rules: Rules, code: string, at: number): readonly [Kind, string] | null {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at;
    const [text = ''] = pattern.exec(code) ?? [];
    if (text !== '') return [kind, text];
  }
  return null;
}
