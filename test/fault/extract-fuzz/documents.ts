import fc from 'fast-check';

const NAMES = fc.constantFrom(
  ...'div p span a ul li table tr td th h1 h2 article main nav header footer section b i em pre code blockquote br img'.split(
    ' ',
  ),
  ...'form input button select option textarea script style template noscript iframe svg math title meta link base time data'.split(
    ' ',
  ),
  ...'dl dt dd figure figcaption video source object body html head plaintext x-y'.split(' '),
);
const WORDS = fc.constantFrom(
  'The water fell as quickly as it had come, and nobody knew why.',
  'Price: 1.234,56 €',
  '$19.99 – $24.99',
  'In stock',
  '3 March 2025',
  'vor 3 Tagen',
  'Leeds, England',
  '+44 20 7946 0958',
  'mailto:a@b.example',
  '昨日の天気は晴れでした。',
  'مرحبا بالعالم',
  '&amp;&lt;&#0;&#x110000;&nosuch;',
  '| a | b |',
  '*_`[x](y)',
  '\u0000',
  '\ud800',
  '\u202e',
  ' ',
  '\n\n',
);
const ADDRESS = fc.constantFrom(
  '/a?utm_source=x',
  '//host.example/x',
  'http://[::1',
  'javascript:void(0)',
  'data:text/html,x',
  '?',
  '#top',
  '../..',
  'https://example.com/é',
);
const TYPE_WORDS = fc.constantFrom(
  'https://schema.org/Product',
  'http://schema.org/Offer',
  'Article',
  'schema:Person',
  'JobPosting Event',
  'x:y',
);
const PROPERTY = fc.constantFrom(
  'name',
  'price',
  'offers',
  'author name',
  'url',
  'datePublished',
  'og:title',
  'x:y',
);
const ATTRIBUTE = fc.oneof(
  ADDRESS.map((value) => `href="${value}"`),
  ADDRESS.map((value) => `src='${value}'`),
  fc
    .constantFrom('main', 'nav', 'content', 'price', 'sku', 'breadcrumb', 'comment', 'author', 'cookie')
    .map((value) => `class="${value} x-${value}"`),
  fc.constantFrom('a', 'b', 'c').map((value) => `id=${value}`),
  fc.constantFrom('a b', 'b c a', 'z').map((value) => `itemref="${value}"`),
  fc.constant('itemscope'),
  TYPE_WORDS.map((value) => `itemscope itemtype="${value}"`),
  PROPERTY.map((value) => `itemprop="${value}"`),
  TYPE_WORDS.map((value) => `typeof="${value}"`),
  PROPERTY.map((value) => `property="${value}"`),
  fc
    .constantFrom('http://schema.org/', '', 'x')
    .map((value) => `vocab="${value}" prefix="x: http://x.example/ y:"`),
  fc.constantFrom('#a', '_:b', '[x:y]', '').map((value) => `resource="${value}" about='${value}'`),
  fc.constantFrom(
    'hidden',
    'content=x',
    'rel="next"',
    'rel=canonical',
    'datetime=2025-13-45',
    'colspan=99999',
  ),
  fc.string({ maxLength: 12 }),
);
const JSON_PIECE = fc
  .oneof(
    fc.json({ maxDepth: 4 }),
    fc
      .record({
        '@context': fc.constantFrom<unknown>(
          'https://schema.org',
          { '@vocab': 'http://schema.org/' },
          null,
          3,
        ),
        '@type': fc.constantFrom<unknown>('Product', ['Product', 'Thing'], null, { a: 1 }),
        '@id': fc.constantFrom<unknown>('#a', '_:b', 7),
        name: fc.jsonValue({ maxDepth: 1 }),
        offers: fc.jsonValue({ maxDepth: 2 }),
        '@graph': fc.jsonValue({ maxDepth: 2 }),
      })
      .map((value) => JSON.stringify(value)),
  )
  .chain((text) =>
    // Whole, cut, or with something in it that JSON does not know.
    fc.nat(text.length).chain((at) => fc.constantFrom(text, text.slice(0, at), `${text.slice(0, at)},'//\n`)),
  );
const SCRIPT = fc
  .tuple(
    fc.constantFrom(
      '<script type="application/ld+json">',
      '<script id="__NEXT_DATA__" type="application/json">',
      '<script>window.__STATE__=',
      '<script>window.__NUXT__=(function(a,b){return ',
      '<script>self.__next_f.push([1,',
      '<script>var meta = ',
    ),
    JSON_PIECE,
    fc.constantFrom('</script>', ';</script>', ']);</script>', ''),
  )
  .map((parts) => parts.join(''));
const PIECE = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(NAMES, fc.array(ATTRIBUTE, { maxLength: 3 }), fc.constantFrom('>', '>', '>', '/>', ''))
      .map(([name, attributes, end]) => `<${[name, ...attributes].join(' ')}${end}`),
  },
  { weight: 4, arbitrary: NAMES.map((name) => `</${name}>`) },
  { weight: 4, arbitrary: WORDS },
  { weight: 1, arbitrary: SCRIPT },
  {
    weight: 1,
    arbitrary: fc.constantFrom('<!--', '-->', '<![CDATA[', ']]>', '<!doctype html>', '<?xml?>', '<', '"'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

/** Documents of every sort of piece, in no order that a person would write. */
export const documents: fc.Arbitrary<string> = fc
  .array(PIECE, { maxLength: 120, size: 'max' })
  .map((pieces) => pieces.join(''));
