import { paragraph, sentence, wordAt } from '../../site/prose.ts';
import { randomFrom } from '../../site/random.ts';
import type { Template } from './page-templates.ts';

/** Kinds of pages that monitors were not tuned on: written after the code was done. */

const pick = <T>(list: readonly T[], random: () => number): T =>
  list[Math.floor(random() * list.length)] as T;
const whole = (from: number, to: number, random: () => number) => from + Math.floor(random() * (to - from));

const QUOTES = Array.from({ length: 12 }, (_, at) => sentence(randomFrom(at + 77)));
const german = (at: number) =>
  new Date(at).toLocaleDateString('de-DE', {
    timeZone: 'UTC',
    day: '2-digit',
    month: '2-digit',
    year: 'numeric',
  });
const clockOf = (at: number) => new Date(at).toISOString().slice(11, 19);

export const MORE_TEMPLATES: readonly Template[] = [
  {
    name: 'forum',
    facts: (random) => ({
      title: `Thread ${whole(100, 999, random)}: ${wordAt(random)}`,
      last: `Answer of ${wordAt(random)}: try setting ${whole(10, 99, random)}`,
      state: 'Thread is open',
    }),
    variants: ['no test'],
    html: ({ at, random, visits, facts }, seed) => `<html><head><title>Forum</title></head><body>
<nav><a href=/>Forum</a> <a href=/new>New</a> <span>${whole(100, 400, random)} members online, ${whole(1, 90, random)} guests</span></nav>
<blockquote>${pick(QUOTES, random)}</blockquote>
<h1>${facts.title}</h1><p>${facts.state}</p>
${Array.from({ length: 5 }, (_, post) => `<article><b>${wordAt(randomFrom(seed + post))}</b> <i>posted ${Math.floor((at - Date.UTC(2025, 11, 1 + post)) / 86_400_000)} days ago</i><p>${paragraph(randomFrom(seed * 9 + post), 120)}</p></article>`).join('\n')}
<article>${facts.last}</article>
<p>This page was viewed ${visits} times</p><footer>Server time: ${clockOf(at)} · queries: ${whole(9, 30, random)}</footer></body></html>`,
  },
  {
    name: 'tariff',
    facts: (random) => ({
      a: `Tarif S kostet ${whole(5, 20, random)},${whole(10, 99, random)} Euro`,
      b: `Tarif M kostet ${whole(20, 40, random)},${whole(10, 99, random)} Euro`,
      c: `Mindestlaufzeit ${whole(1, 24, random)} Monate`,
    }),
    variants: ['Jetzt bestellen', 'Zum Angebot'],
    html: ({ at, random, facts, variant }, seed) => `<html lang=de><head><title>Tarife</title></head><body>
<p>Stand: ${german(at)}, ${clockOf(at).slice(0, 5)} Uhr</p><h1>Unsere Tarife</h1>
<table>${Object.values(facts)
      .map((fact) => `<tr><td>${fact}</td><td>inkl. Mwst.</td></tr>`)
      .join('')}</table>
<a class=cta href=/o>${variant}</a>${paragraph(randomFrom(seed), 600)}
<p>Zuletzt bestellt vor ${whole(2, 59, random)} Minuten aus ${pick(['Köln', 'Bonn', 'Ulm', 'Kiel', 'Jena', 'Graz', 'Trier'], random)}</p>
<p>Kennung ${Math.floor(random() * 1e9).toString(36)}</p></body></html>`,
  },
  {
    name: 'jobs',
    facts: (random) =>
      Object.fromEntries(
        Array.from({ length: 8 }, (_, at) => [
          `job${at}`,
          `${wordAt(random)} engineer, ${wordAt(random)} team ${whole(1, 90, random)}`,
        ]),
      ),
    variants: ['no test'],
    html: (
      { at, random, facts },
      seed,
    ) => `<html><head><title>Jobs</title></head><body><h1>Open positions</h1>
<p>As of ${new Date(at).toLocaleDateString('en-US', { timeZone: 'UTC', month: 'long', day: 'numeric', year: 'numeric' })}</p>
<ol>${Object.values(facts)
      .map((fact) => `<li>${fact}</li>`)
      .join('')}</ol>
<h2>Voices</h2><p>${pick(QUOTES, random)}</p><p>— ${wordAt(random)}, ${pick(['sales', 'support', 'research'], random)}</p>
<div>${paragraph(randomFrom(seed), 300)}</div><p>Applications close in ${30 - Math.floor((at - Date.UTC(2026, 0, 5)) / 86_400_000)} days</p>
<p>${whole(10, 99, random)} applications in the last hour</p></body></html>`,
  },
  {
    name: 'release',
    facts: (random) => ({
      version: `Stable release ${whole(1, 30, random)}.${whole(10, 40, random)}.${whole(10, 40, random)}`,
      size: `Download size ${whole(20, 90, random)} MB`,
      note: `Known issue ${whole(1000, 9999, random)}`,
    }),
    variants: ['Get started', 'Download now', 'Try it free'],
    rotating: ['Mirror: Berlin', 'Mirror: Paris', 'Mirror: Oslo'],
    html: ({ at, random, facts, variant, visits }, seed) => `<html><head><title>Release</title></head><body>
<h1>Releases</h1><button>${variant}</button><p>${facts.version}</p><p>${facts.size}</p><ul><li>${facts.note}</li></ul>
<p>Stars: ${(41_000 + Math.floor(visits / 50)).toLocaleString('en-US')}</p><p>Build ${whole(100000, 999999, random)} finished ${whole(1, 50, random)} minutes ago</p>
${Array.from({ length: 6 }, (_, index) => `<p>${paragraph(randomFrom(seed + index), 100)}</p>`).join('')}
<p>Mirror: ${pick(['Berlin', 'Paris', 'Oslo'], random)}</p><p>${new Date(at).toUTCString()}</p></body></html>`,
  },
];
