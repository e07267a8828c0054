import type { Answer, Family } from '../exchange.ts';
import { html } from '../exchange.ts';
import { addressOf, HOSTS } from '../hosts.ts';
import { documentOf, escapeHtml, link } from '../layout.ts';
import { NASTY, type NastyCase } from '../nasty.ts';
import { SCRIPTED } from '../scripted.ts';

/** What a browser or a crawler may follow without coming to harm; the rest is named, not linked. */
const isSafe = (nasty: NastyCase): boolean =>
  nasty.expect.state === 'done' && nasty.requires === undefined && !nasty.path.startsWith('/traps/');

const expected = ({ expect }: NastyCase): string =>
  escapeHtml(expect.code ?? [expect.state, expect.statusCode, expect.outcome].filter(Boolean).join(' '));

/** The front page: every family, every case, every host. */
export function homePage(families: readonly Family[], port: number): Answer {
  const starts = families
    .map((family) => {
      const names =
        family.starts.length === 0
          ? `<code>${family.prefix}</code>`
          : family.starts.map((path) => link(path)).join(' ');
      return `<li>${names}: ${escapeHtml(family.about)}</li>`;
    })
    .join('\n');
  const cases = NASTY.map(
    (nasty) =>
      `<tr><td>${isSafe(nasty) ? link(nasty.path) : `<code>${escapeHtml(nasty.path)}</code>`}</td><td>${expected(nasty)}</td><td>${escapeHtml(nasty.note)}</td></tr>`,
  ).join('\n');
  const scripted = SCRIPTED.map(
    ({ path, plain, note }) =>
      `<tr><td><code>${escapeHtml(path)}</code></td><td>${plain}</td><td>${escapeHtml(note)}</td></tr>`,
  ).join('\n');
  const hosts = HOSTS.map(
    ({ name, note }) =>
      `<tr><td><code>${addressOf(name)}:${port}</code></td><td>${name}</td><td>${escapeHtml(note)}</td></tr>`,
  ).join('\n');
  return html(
    documentOf({
      title: 'A small, nasty web',
      body: `<ul>\n${starts}\n</ul>\n<h2>Cases</h2>\n<table>\n${cases}\n</table>\n<h2>Pages with scripts</h2>\n<table>\n${scripted}\n</table>\n<h2>Virtual hosts</h2>\n<table>\n${hosts}\n</table>`,
    }),
  );
}
