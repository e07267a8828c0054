import type { Column, Row, Table } from '../../src/capabilities/exports/table.ts';

/** The columns of `full`, with values of the length that shops have. */
export const COLUMNS: readonly Column[] = [
  { name: 'url', type: 'string' },
  { name: 'final_url', type: 'string' },
  { name: 'http_status', type: 'integer' },
  { name: 'fetched_at', type: 'timestamp' },
  { name: 'title', type: 'string' },
  { name: 'h1', type: 'string' },
  { name: 'price', type: 'number' },
  { name: 'currency', type: 'string' },
  { name: 'availability', type: 'string' },
  { name: 'sku', type: 'string' },
  { name: 'brand', type: 'string' },
  { name: 'category', type: 'string' },
  { name: 'breadcrumbs', type: 'string' },
  { name: 'images', type: 'string' },
  { name: 'attrs_json', type: 'string' },
  { name: 'text_hash', type: 'string' },
];

const BATCH = 500;

export function rowAt(n: number): Row {
  const slug = `product-${n}-of-the-shop`;
  const url = `https://shop.example/category-${n % 97}/${slug}`;
  return [
    url,
    url,
    200,
    new Date(1_767_225_600_000 + n * 1_000).toISOString(),
    `Product ${n}, "the good one" | Shop`,
    `Product ${n}`,
    (n % 10_000) / 100,
    'EUR',
    n % 7 === 0 ? 'OutOfStock' : 'InStock',
    `SKU-${n}`,
    `Brand ${n % 53}`,
    `Category ${n % 97}`,
    `Home > Things > Category ${n % 97}`,
    `https://shop.example/images/${slug}-1.jpg|https://shop.example/images/${slug}-2.jpg`,
    `{"color":"red","size":"${n % 40}"}`,
    (n * 2_654_435_761).toString(16).padStart(64, '0'),
  ];
}

/** The same rows for both sides, made as they are taken. */
export async function* batches(count: number): AsyncGenerator<readonly Row[]> {
  for (let at = 0; at < count; at += BATCH) {
    yield Array.from({ length: Math.min(BATCH, count - at) }, (_, n) => rowAt(at + n));
  }
}

export const tableOf = (count: number): Table => ({ columns: COLUMNS, rows: () => batches(count) });
