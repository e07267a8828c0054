import { field } from '../field.ts';

export const PRODUCT_FIELDS = {
  name: field('text', 'What it is called.'),
  price: field('price', 'What is to be paid now; the lowest where there are several.'),
  currency: field('currency', 'ISO 4217.'),
  listPrice: field('price', 'The price before, struck through or called so.'),
  highPrice: field('price', 'The highest price where there are several.'),
  availability: field(
    'availability',
    '`InStock`, `OutOfStock`, `PreOrder`, `Discontinued` … as in schema.org.',
  ),
  condition: field('text', '`New`, `Used`, `Refurbished` …'),
  seller: field('text', 'Who sells it.'),
  sku: field('text', 'Number of the article in this shop.'),
  gtin: field('gtin', 'EAN, UPC or ISBN with a right check digit.'),
  mpn: field('text', 'Number of the article at its maker.'),
  brand: field('text', 'Brand or maker.'),
  category: field('text', 'The most special one.'),
  breadcrumbs: field('crumbs', 'Where in the shop it is: `name` and `url` each.'),
  images: field('urls', 'Addresses of its pictures.'),
  rating: field('number', 'Mean of all opinions, on the scale of the page.'),
  bestRating: field('number', 'The best there is on that scale.'),
  reviewCount: field('count', 'How many opinions there are.'),
  variants: field(
    'variants',
    'Sizes, colours …: `name sku gtin price listPrice currency availability url image options` each.',
  ),
  attributes: field('attributes', 'Technical data and other properties by name.'),
  description: field('body', 'What the shop says of it.'),
  url: field('url', 'The address the page wants to be known by.'),
} as const;

export type ProductFields = typeof PRODUCT_FIELDS;
