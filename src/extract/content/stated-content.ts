import { buildTree } from '../tree/tree-builder.ts';
import { countWords } from './blocks.ts';
import type { PageSignals } from './page-signals.ts';
import { type Rendered, render } from './render-content.ts';

const KEYS = ['articleBody', 'text', 'recipeInstructions'] as const;
/** What others said is the text of a page only where people talk with each other. */
const THREADS = new Set(['discussionforumposting', 'question']);
const OTHERS = new Set(['comment', 'answer', 'review']);
const LEAST_WORDS = 5;
const MOST_CHARS = 200_000;

/**
 * What the page says its text is, for pages whose text only a script would show: the bodies in its structured data. Null
 * when that has no more than `leastWords` words. A description is no text: it says what the page is about.
 */
export function statedContent({ objects }: PageSignals, leastWords: number): Rendered | null {
  const isThread = objects.some(({ types }) => types.some((type) => THREADS.has(type)));
  const own = objects.filter(({ types }) => isThread || !types.some((type) => OTHERS.has(type)));
  const parts = new Set<string>();
  let chars = 0;
  for (const key of KEYS) {
    for (const { value } of own) {
      const text = value[key];
      if (typeof text !== 'string' || parts.has(text) || chars + text.length > MOST_CHARS) continue;
      parts.add(text);
      chars += text.length;
    }
    if (parts.size > 0) break;
  }
  const source = [...parts].map(asHtml).join('\n');
  if (countWords(source) <= Math.max(LEAST_WORDS, leastWords)) return null;
  const tree = buildTree(source);
  return render(tree, new Uint8Array(tree.count).fill(1), 'about:blank');
}

const MARKUP = /<(?:p|br|div|ul|ol|li|h[1-6]|a|b|strong|em|span)\b/i;

function asHtml(text: string): string {
  if (MARKUP.test(text)) return `<div>${text}</div>`;
  const lines = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .split(/\n\s*\n/);
  return lines.map((line) => `<p>${line.replaceAll('\n', '<br>')}</p>`).join('');
}
