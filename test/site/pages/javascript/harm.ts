import { type Answer, html, raw } from '../../exchange.ts';
import { documentOf } from '../../layout.ts';
import { paragraph } from '../../prose.ts';
import { randomFrom } from '../../random.ts';
import { PREFIX } from './shell.ts';

/** Pages that hurt the browser which shows them. Each has something to read before it begins. */
const BEFORE_MS = 50;

const harmful = (title: string, more: string): Answer =>
  html(documentOf({ title, body: `<p id="before">${paragraph(randomFrom(51), 300)}</p>\n${more}` }));

/** The element tree is so deep that laying it out overflows the stack of the renderer. */
const CRASH = `const root = document.createElement('div');
let last = root;
for (let depth = 0; depth < 20000; depth++) {
  const next = document.createElement('div');
  last.append(next);
  last = next;
}
last.textContent = 'The bottom';
document.body.append(root);
document.body.offsetHeight;`;

/** Fifty megabytes at a time, touched so that they are really there, and all of them kept. */
const MEMORY = `const kept = [];
setInterval(() => kept.push(new Uint8Array(52428800).fill(kept.length + 1)), 20);`;

const script = (code: string): string =>
  `<script>\nsetTimeout(() => {\n${code}\n}, ${BEFORE_MS});\n</script>`;

export const HARM_PAGES: Readonly<Record<string, () => Answer>> = {
  'never-loaded': () =>
    harmful('A page that never finishes loading', `<img src="${PREFIX}never.png" alt="never">`),
  'never.png': () => raw(() => {}),
  'busy-loop': () => harmful('A page that never comes to rest', script('for (;;) {}')),
  memory: () => harmful('A page that wants all memory', script(MEMORY)),
  crash: () => harmful('A page that ends its process', script(CRASH)),
};
