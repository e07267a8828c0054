import { sentence, wordAt } from '../../site/prose.ts';
import { randomFrom } from '../../site/random.ts';

/** Pages of a site whose real content is known, in a crowd of what differs at every visit. */

/** What a page really says. Each fact stands in a line of its own; `Facts` of two times that differ are a real change. */
export type Facts = Readonly<Record<string, string>>;

/** One visit to a page. */
export interface Visit {
  readonly at: number;
  /** Chance of this visit alone. */
  readonly random: () => number;
  /** Visits to this page so far, over all visitors. */
  readonly visits: number;
  readonly facts: Facts;
  /** The variant that a test of the site shows to this visitor; each is a line that says which one it is. */
  readonly variant: string;
}

export interface Template {
  readonly name: string;
  /** What the page says in the beginning. */
  readonly facts: (random: () => number) => Facts;
  /** Variants of a running test; one: there is no test. */
  readonly variants: readonly string[];
  /** Lines of which one after the other is shown, and which are few enough to be told once each. */
  readonly rotating?: readonly string[];
  readonly html: (visit: Visit, seed: number) => string;
}

const pick = <T>(list: readonly T[], random: () => number): T =>
  list[Math.floor(random() * list.length)] as T;
const whole = (from: number, to: number, random: () => number) => from + Math.floor(random() * (to - from));
const paragraphs = (count: number, seed: number) => {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => `<p>${sentence(random)} ${sentence(random)}</p>`).join('\n');
};

const ADS = [
  '<div class="ad"><b>Fresh coffee</b> delivered to your door</div>',
  '<div class="ad">Win a journey to the sea</div>',
  '<div class="ad"><p>Loans from 2.9 %</p><p>Ask our bank</p><p>No fees</p></div>',
  '<div class="ad">Shoes for <i>every</i> weather</div>',
  '<div class="ad"><h4>Learn piano</h4><p>in 30 days</p></div>',
  '',
  '<div class="ad">Your car is worth more</div>',
  '<div class="ad"><p>Garden chairs</p><p>only this week</p></div>',
];
const iso = (at: number) => new Date(at).toISOString();
const clock = (at: number) => iso(at).slice(11, 16);
const longDate = (at: number) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(at);

function agoText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} minute${minutes === 1 ? '' : 's'} ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} hour${hours === 1 ? '' : 's'} ago`;
  const days = Math.floor(hours / 24);
  return `${days} day${days === 1 ? '' : 's'} ago`;
}

const frame = (title: string, body: string, { at, random, visits }: Visit) => `<!doctype html>
<html lang="en"><head><title>${title}</title><meta name="csrf" content="${random().toString(36).slice(2)}"></head>
<body>
<header><a href="/">Home</a> <a href="/news">News</a> <a href="/shop">Shop</a> <a href="/help">Help</a></header>
<div class="bar">${longDate(at)}, ${clock(at)}</div>
<main><h1>${title}</h1>
${body}
</main>
<aside>${pick(ADS, random)}</aside>
<footer><p>${visits.toLocaleString('en-US')} visitors since 2019</p><p>Imprint</p><p>Page made in ${whole(8, 90, random)} ms by node ${whole(1, 9, random)}</p></footer>
</body></html>`;

export const TEMPLATES: readonly Template[] = [
  {
    name: 'product',
    facts: (random) => ({
      price: `Price: ${whole(10, 900, random)}.${whole(10, 99, random)} EUR`,
      stock: 'In stock, ready to ship',
      note: `Warranty of ${whole(1, 9, random)} years`,
    }),
    variants: ['Buy it now', 'Add it to your basket'],
    html: (visit, seed) =>
      frame(
        `Product ${seed}`,
        `<p class="price">${visit.facts.price}</p><p>${visit.facts.stock}</p><button>${visit.variant}</button>
<p>${whole(3, 60, visit.random)} people are looking at this right now</p>
${paragraphs(4, seed)}<p>${visit.facts.note}</p>
<h2>You may also like</h2><ul>${Array.from({ length: 3 }, () => `<li>Product ${whole(1, 500, visit.random)}</li>`).join('')}</ul>`,
        visit,
      ),
  },
  {
    name: 'article',
    facts: (random) => ({
      headline: `Report ${whole(1000, 9999, random)} of the committee`,
      claim: `The vote was ${whole(51, 99, random)} to ${whole(1, 49, random)}.`,
      author: `By ${wordAt(random)} ${wordAt(random)}`,
    }),
    variants: ['no test'],
    html: (visit, seed) =>
      frame(
        'The news of the day',
        `<h2>${visit.facts.headline}</h2><p>${visit.facts.author}</p>
<p>Published ${agoText(visit.at - Date.UTC(2026, 0, 4, 6, 17) - (seed % 500) * 60_000)}</p>
<p>${visit.facts.claim}</p>${paragraphs(6, seed)}
<p>Read by ${(visit.visits * 13 + 4000).toLocaleString('en-US')} people, shared ${visit.visits * 2} times</p>
<div>${pick(ADS, visit.random)}</div>${paragraphs(3, seed + 1)}`,
        visit,
      ),
  },
  {
    name: 'list',
    facts: (random) =>
      Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [
          `row${at}`,
          `Item ${at}: ${wordAt(random)} for ${whole(5, 500, random)} EUR`,
        ]),
      ),
    variants: ['Sorted by name, newest design', 'Sorted by name', 'Sorted by name, large pictures'],
    html: (visit, seed) =>
      frame(
        `List ${seed}`,
        `<p>${visit.variant}</p><ul>${Object.values(visit.facts)
          .map((row) => `<li>${row}</li>`)
          .join('\n')}</ul><p>Prices as of ${clock(visit.at)}</p>${pick(ADS, visit.random)}`,
        visit,
      ),
  },
  {
    name: 'status',
    facts: (random) => ({
      state: 'All systems work',
      version: `Version ${whole(1, 9, random)}.${whole(0, 20, random)}.${whole(0, 20, random)}`,
    }),
    variants: ['no test'],
    html: (visit, seed) =>
      frame(
        'Status',
        `<p>${visit.facts.state}</p><p>${visit.facts.version}</p>
<p>Answer time ${whole(20, 400, visit.random)} ms, load ${(visit.random() * 4).toFixed(2)}</p>
<p>Last check: ${iso(visit.at - whole(0, 50_000, visit.random))}</p>${paragraphs(2, seed)}
<p>Ends in ${String(23 - new Date(visit.at).getUTCHours()).padStart(2, '0')}:${String(59 - new Date(visit.at).getUTCMinutes()).padStart(2, '0')}:00</p>`,
        visit,
      ),
  },
];
