import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { gatherEvidence } from '../features/evidence.ts';
import { titleOf } from './content-facts.ts';

interface Page {
  readonly title?: string;
  readonly headings?: readonly string[];
  readonly url?: string;
  readonly siteName?: string;
  readonly stated?: readonly string[];
}

function titleFor({ title = '', headings = [], url = 'https://www.acme.com/x', siteName, stated }: Page) {
  const html = `<title>${title}</title>${headings.map((text) => `<h1>${text}</h1><p>Text.</p>`).join('')}`;
  const { evidence } = gatherEvidence(buildTree(html), url);
  return titleOf(evidence, siteName ?? null, stated ?? []);
}

describe('the title of a page', () => {
  it.each<[string, Page, string | null]>([
    ['has no site at its end', { title: 'A flood | Acme' }, 'A flood'],
    ['has no site at its beginning', { title: 'Acme: home - A flood', siteName: 'Acme: home' }, 'A flood'],
    ['has no name that resembles the host', { title: 'A flood - Acme Official Site' }, 'A flood'],
    ['has no site of another name', { title: 'A flood - The Herald', siteName: 'The Herald' }, 'A flood'],
    ['has no documentation', { title: 'Models | Django documentation' }, 'Models'],
    [
      'has no word of the host',
      { title: 'Forms – Django 5', url: 'https://docs.djangoproject.com/forms' },
      'Forms',
    ],
    [
      'keeps a last part that only shares a few letters with the host',
      { title: 'Generics - Types from types', url: 'https://typescriptlang.org/' },
      'Generics - Types from types',
    ],
    ['keeps its own signs', { title: 'Acme - Flood: a-z | b - Acme', siteName: 'Acme' }, 'Flood: a-z | b'],
    ['is the site where there is nothing else', { title: 'Acme' }, 'Acme'],
    ['is a heading within it', { title: 'Boots: all boots | Acme', headings: ['Boots'] }, 'Boots'],
    [
      'is the heading of the chapter, not of the book',
      { title: 'Ownership of things - The Acme Book', headings: ['The Acme Book', 'Ownership of things'] },
      'Ownership of things',
    ],
    [
      'is not the heading of the book where the chapter has none',
      { title: 'Ownership of things - The Acme Book', headings: ['The Acme Book'] },
      'Ownership of things',
    ],
    [
      'is a heading in nearly the same words',
      { title: 'The flood of March, explained', headings: ['The March flood explained'] },
      'The March flood explained',
    ],
    [
      'is no heading that speaks of something else',
      { title: 'Pet insurance | Acme', headings: ['You deserve to be happy'] },
      'Pet insurance',
    ],
    [
      'is no single word among several headings',
      { title: 'A cure found at last : science', headings: ['science', 'Rules'] },
      'A cure found at last : science',
    ],
    ['is what data states where the page has none', { stated: ['A flood | Acme'] }, 'A flood'],
    ['is a heading where there is nothing else', { headings: ['A flood'] }, 'A flood'],
    ['is nothing where there is none', {}, null],
  ])('%s', (_name, page, expected) => {
    expect(titleFor(page)).toBe(expected);
  });
});
