import { hashName } from '../name-table.ts';
import type { Markup } from './markup.ts';

const SOURCES = ['data-large_image', 'data-zoom-image', 'data-image-large-src', 'data-src', 'src'].map(
  hashName,
);
const MOST_PICTURES = 50;

/** Addresses of the pictures in an element, the largest that is named of each. */
export function picturesIn(markup: Markup, node: number): string[] {
  const images = markup.tagged('img', node, true).slice(0, MOST_PICTURES);
  return images.flatMap((image) => {
    const urls = SOURCES.map((name) => markup.tree.attribute(image, name));
    const url = urls.find((value) => value && !value.startsWith('data:'));
    return url ? [url] : [];
  });
}
