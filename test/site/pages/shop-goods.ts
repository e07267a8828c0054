/** What the demo shop sells and tells. */
export interface Product {
  readonly slug: string;
  readonly name: string;
  readonly category: string;
  readonly price: number;
  readonly stock: number;
  readonly rating: number;
  readonly reviews: number;
  readonly hue: number;
  readonly about: string;
}

export interface Article {
  readonly slug: string;
  readonly title: string;
  readonly author: string;
  readonly date: string;
  readonly lead: string;
  readonly product: string;
}

export const CATEGORIES: readonly { readonly slug: string; readonly name: string; readonly about: string }[] =
  [
    { slug: 'kettles', name: 'Kettles', about: 'Water, hot, on time.' },
    { slug: 'lamps', name: 'Lamps', about: 'Light where you read, cook and mend.' },
    { slug: 'blankets', name: 'Blankets', about: 'Woven slowly, warm at once.' },
    { slug: 'tools', name: 'Tools', about: 'For things that deserve a second life.' },
  ];

type Row = readonly [
  slug: string,
  name: string,
  category: string,
  price: number,
  stock: number,
  rating: number,
  reviews: number,
  about: string,
];
const ROWS: readonly Row[] = [
  [
    'tern-kettle',
    'Tern Kettle',
    'kettles',
    64.9,
    12,
    4.7,
    231,
    'A stovetop kettle in brushed steel that sings in a major third.',
  ],
  [
    'heron-kettle',
    'Heron Pour-over Kettle',
    'kettles',
    89,
    4,
    4.9,
    88,
    'A long neck for a steady hand: one litre, exact to the drop.',
  ],
  [
    'wren-kettle',
    'Wren Travel Kettle',
    'kettles',
    39.5,
    0,
    4.1,
    57,
    'Half a litre, folds flat, boils on any voltage.',
  ],
  [
    'gannet-kettle',
    'Gannet Electric Kettle',
    'kettles',
    74,
    31,
    4.4,
    412,
    'Keeps 80 degrees for green tea and 96 for black.',
  ],
  [
    'dusk-lamp',
    'Dusk Desk Lamp',
    'lamps',
    119,
    9,
    4.8,
    143,
    'Two joints, one knob, and a warm light that never flickers.',
  ],
  [
    'harbour-lamp',
    'Harbour Lantern',
    'lamps',
    54,
    22,
    4.5,
    96,
    'Brass and thick glass; sixteen hours on one charge.',
  ],
  ['moth-lamp', 'Moth Bedside Lamp', 'lamps', 42, 17, 4.2, 64, 'Touch once to read, twice to sleep.'],
  [
    'foundry-lamp',
    'Foundry Pendant',
    'lamps',
    186,
    3,
    4.9,
    21,
    'Cast in sand, one at a time, no two the same.',
  ],
  [
    'fjord-blanket',
    'Fjord Wool Blanket',
    'blankets',
    138,
    8,
    4.8,
    175,
    'Norwegian wool, undyed, 140 by 200 centimetres.',
  ],
  [
    'meadow-blanket',
    'Meadow Picnic Blanket',
    'blankets',
    49,
    40,
    4.3,
    209,
    'Cotton above, waxed canvas below.',
  ],
  [
    'ember-blanket',
    'Ember Throw',
    'blankets',
    79,
    0,
    4.6,
    38,
    'Recycled yarn in the colours of a fire at eleven.',
  ],
  [
    'alder-blanket',
    'Alder Child’s Blanket',
    'blankets',
    45,
    14,
    4.9,
    301,
    'Soft enough to be dragged everywhere for six years.',
  ],
  [
    'kestrel-knife',
    'Kestrel Pocket Knife',
    'tools',
    58,
    19,
    4.7,
    122,
    'One blade, one handle of olive wood, one lifetime.',
  ],
  [
    'mender-kit',
    'Mender’s Sewing Kit',
    'tools',
    26.5,
    60,
    4.6,
    540,
    'Forty needles, nine threads and a darning mushroom.',
  ],
  ['plane-no4', 'Bench Plane No. 4', 'tools', 145, 5, 4.8, 77, 'Flat to a hair, tuned before it leaves us.'],
  ['tide-oilstone', 'Tide Oilstone', 'tools', 33, 25, 4.4, 49, 'Coarse on one face, fine on the other.'],
];

export const PRODUCTS: readonly Product[] = ROWS.map(
  ([slug, name, category, price, stock, rating, reviews, about], at) => ({
    slug,
    name,
    category,
    price,
    stock,
    rating,
    reviews,
    about,
    hue: (at * 47 + 15) % 360,
  }),
);

export const ARTICLES: readonly Article[] = [
  {
    slug: 'how-to-boil-water',
    title: 'How to boil water',
    author: 'Ines Holm',
    date: '2024-02-11',
    lead: 'There is more to a hundred degrees than a bubble.',
    product: 'tern-kettle',
  },
  {
    slug: 'the-colour-of-evening',
    title: 'The colour of evening',
    author: 'Tomas Reed',
    date: '2024-03-02',
    lead: 'Why 2,700 kelvin feels like home.',
    product: 'dusk-lamp',
  },
  {
    slug: 'a-sheep-in-june',
    title: 'A sheep in June',
    author: 'Ines Holm',
    date: '2024-06-19',
    lead: 'From the hill to the loom in eleven steps.',
    product: 'fjord-blanket',
  },
  {
    slug: 'sharp-enough',
    title: 'Sharp enough',
    author: 'Kaya Brandt',
    date: '2024-08-07',
    lead: 'The paper test, the thumb test, and the tomato.',
    product: 'tide-oilstone',
  },
  {
    slug: 'mending-in-public',
    title: 'Mending in public',
    author: 'Kaya Brandt',
    date: '2024-10-23',
    lead: 'A visible patch is a small kind of bravery.',
    product: 'mender-kit',
  },
];
