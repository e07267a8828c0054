import { escapeHtml } from '../../layout.ts';

export const PREFIX = '/js/';

export interface Shell {
  readonly title: string;
  /** Runs with `app`, the element to fill, `add(tag, text, into?)`, which makes an element, and `load(path)`, which gets JSON. */
  readonly script: string;
}

const PRELUDE = `const app = document.getElementById('app');
const add = (tag, text, into = app) => {
  const made = document.createElement(tag);
  made.textContent = text;
  into.append(made);
  return made;
};
const load = async (path, options) => (await fetch(path, options)).json();`;

/** What a server sends of a page that scripts make: a title, an empty element and the script. */
export function shellOf({ title, script }: Shell): string {
  return (
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${escapeHtml(title)}</title>\n</head>\n` +
    `<body>\n<div id="app"></div>\n<script>\n${PRELUDE}\n${script}\n</script>\n</body>\n</html>\n`
  );
}

/** Whether the Cookie header has exactly this pair. */
export function hasCookie(header: string | undefined, name: string, value: string): boolean {
  return (header ?? '').split('; ').includes(`${name}=${value}`);
}
