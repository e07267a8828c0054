import { expect, it } from 'vitest';
import { CLOSED_SCOPE } from '../accept/job-draft.ts';
import { searchLinks, titlesOf } from './map-result.ts';

const LINKS = [
  { url: 'https://a.example/blog/red-hats', title: null },
  { url: 'https://a.example/p/1', title: 'Red hats for winter' },
  { url: 'https://a.example/caf%C3%A9', title: 'Menu' },
  { url: 'https://a.example/blue', title: 'Blue' },
];

it('finds URLs by words of their address and title, titles first', () => {
  const found = (search: string | null) => searchLinks(LINKS, search).map(({ url }) => new URL(url).pathname);
  expect(found('red HATS')).toEqual(['/p/1', '/blog/red-hats']);
  expect(found('café')).toEqual(['/caf%C3%A9']);
  expect(found('red blue')).toEqual([]);
  expect(found(' ')).toHaveLength(4);
  expect(found(null)).toHaveLength(4);
});

it('finds a number in the path, query and title of a URL, and not in its IP address, port or scheme', () => {
  const links = [
    { url: 'http://127.0.0.1:8012/product/3', title: null },
    { url: 'http://127.0.0.1:8012/product/12', title: null },
    { url: 'http://127.0.0.1:8012/product?n=12', title: null },
    { url: 'http://[::12]/product', title: null },
    { url: 'http://shop12.example/product', title: null },
  ];
  const found = (search: string) => searchLinks(links, search).map(({ url }) => url);
  expect(found('product 12')).toEqual([
    'http://127.0.0.1:8012/product/12',
    'http://127.0.0.1:8012/product?n=12',
    'http://shop12.example/product',
  ]);
  expect(found('http')).toEqual([]);
});

it('takes titles from the page itself and from the texts of its links', () => {
  const link = (url: string, text: string) => ({ url, text, rel: '', from: 'a' });
  const options = { scope: CLOSED_SCOPE } as Parameters<typeof titlesOf>[1]['options'];
  const links = [
    link('https://a.example/', 'Home'),
    link('https://a.example/b#top', ' All \n books '),
    link('https://a.example/b', 'B'),
  ];
  const titles = titlesOf([{ url: 'https://a.example/', title: 'A shop', links }], { options });
  expect([...titles]).toEqual([
    ['https://a.example/', 'A shop'],
    ['https://a.example/b', 'All books'],
  ]);
});
