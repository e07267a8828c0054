import { type Answer, html, json } from '../../exchange.ts';
import { paragraph } from '../../prose.ts';
import { randomFrom, seedOf } from '../../random.ts';
import { PREFIX, shellOf } from './shell.ts';

/** One application with several addresses. The server sends the same shell for each, whether it exists or not. */
const ROOT = `${PREFIX}spa/`;
const TITLES: Readonly<Record<string, string>> = {
  '': 'Welcome to the application',
  about: 'About the application',
  products: 'Products of the application',
  'products/1': 'The first product',
  'products/2': 'The second product',
  'products/3': 'The third product',
};

export const SPA_PATHS: readonly string[] = Object.keys(TITLES).map((route) => ROOT + route);

const SCRIPT = `const show = async () => {
  const route = location.pathname.slice('${ROOT}'.length);
  const { title, body, routes } = await load('${PREFIX}api/spa/' + route);
  document.title = title;
  app.textContent = '';
  const menu = add('nav', '');
  for (const { href, label } of routes) {
    const link = add('a', label, menu);
    link.href = href;
    menu.append(' ');
    link.onclick = (event) => {
      event.preventDefault();
      history.pushState({}, '', href);
      show();
    };
  }
  add('h1', title);
  add('p', body).id = 'body';
};
onpopstate = show;
show();`;

export const spaPage = (): Answer => html(shellOf({ title: 'Application', script: SCRIPT }));

export function spaData(route: string): Answer {
  const title = Object.hasOwn(TITLES, route) ? TITLES[route] : undefined;
  const body =
    title === undefined
      ? 'There is nothing at this address.'
      : paragraph(randomFrom(seedOf(`spa ${route}`)), 300);
  const routes = Object.entries(TITLES).map(([path, label]) => ({ href: ROOT + path, label }));
  return json({ title: title ?? 'Page not found', body, routes });
}
