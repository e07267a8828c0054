import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, reply, segmentsOf } from '../exchange.ts';
import { escapeHtml } from '../layout.ts';
import { paragraph } from '../prose.ts';
import { randomFrom, seedOf } from '../random.ts';
import { ARTICLES, type Article, CATEGORIES, PRODUCTS, type Product } from './shop-goods.ts';

/** A small shop with thirty pages and structured data, for demos. It is also the root of the host `shop`. */
const PREFIX = '/shop/';
const NAME = 'Hearth & Harbour';

const STYLE = `:root{--ink:#22303c;--paper:#fbf8f3;--accent:#b4512d;--line:#e6ddd0}*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.65 Georgia,"Times New Roman",serif}
a{color:inherit}header{display:flex;gap:1.5rem;align-items:baseline;flex-wrap:wrap;padding:1.4rem 2rem;border-bottom:1px solid var(--line)}header .brand{font-size:1.35rem;font-weight:bold;text-decoration:none;margin-right:auto}
header nav a{margin-left:1.1rem;text-decoration:none}header nav a:hover{color:var(--accent)}main{max-width:64rem;margin:0 auto;padding:2rem}h1{font-size:2.3rem;line-height:1.2;margin:.6rem 0}.lead{font-size:1.2rem;color:#5b6a76}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:1.4rem;margin:2rem 0}.card{background:#fff;border:1px solid var(--line);border-radius:.8rem;overflow:hidden;text-decoration:none;display:block}
.card:hover{box-shadow:0 .6rem 1.6rem #0001}.card img{width:100%;display:block}.card div{padding:.8rem 1rem}.price{color:var(--accent);font-weight:bold}.two{display:grid;grid-template-columns:1fr 1fr;gap:2.4rem}
.two img{width:100%;border-radius:1rem}button{background:var(--accent);color:#fff;border:0;border-radius:.5rem;padding:.8rem 1.5rem;font:inherit}footer{border-top:1px solid var(--line);padding:2rem;text-align:center;color:#7a8791}@media(max-width:40rem){.two{grid-template-columns:1fr}}`;

const INFO: Readonly<Record<string, { readonly title: string; readonly body: string }>> = {
  about: {
    title: 'About us',
    body: '<p>Four people, one workshop by the water, and a long list of things worth keeping.</p>',
  },
  shipping: {
    title: 'Shipping and returns',
    body: '<p>Two to four days, wrapped in paper. Thirty days to change your mind.</p>',
  },
  contact: {
    title: 'Contact',
    body: '<p>Harbour Street 7 · <a href="mailto:hello@hearth.example">hello@hearth.example</a></p>',
  },
};

interface View {
  readonly path: string;
  readonly title: string;
  readonly about: string;
  readonly main: string;
  readonly data?: unknown;
  readonly image?: string;
}

function view({ path, title, about, main, data, image }: View): Answer {
  const nav = CATEGORIES.map(({ slug, name }) => `<a href="${PREFIX}${slug}">${name}</a>`).join('');
  const ld =
    data === undefined
      ? ''
      : `<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>\n`;
  const picture = image === undefined ? '' : `<meta property="og:image" content="${image}">\n`;
  return html(
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${escapeHtml(title)} – ${escapeHtml(NAME)}</title>\n` +
      `<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="description" content="${escapeHtml(about)}">\n` +
      `<link rel="canonical" href="${path}">\n<meta property="og:title" content="${escapeHtml(title)}">\n<meta property="og:site_name" content="${escapeHtml(NAME)}">\n` +
      `${picture}${ld}<style>${STYLE}</style>\n</head>\n<body>\n<header><a class="brand" href="${PREFIX}">${escapeHtml(NAME)}</a><nav>${nav}<a href="${PREFIX}journal">Journal</a></nav></header>\n` +
      `<main>\n${main}\n</main>\n<footer>${Object.entries(INFO)
        .map(([slug, { title: name }]) => `<a href="${PREFIX}${slug}">${name}</a>`)
        .join(' · ')}<p>© ${escapeHtml(NAME)}</p></footer>\n</body>\n</html>\n`,
  );
}

const imageOf = (product: Product): string => `${PREFIX}images/${product.slug}.svg`;
const money = (amount: number): string => `€${amount.toFixed(2)}`;
const cards = (products: readonly Product[]): string =>
  `<div class="grid">${products.map((product) => `<a class="card" href="${PREFIX}product/${product.slug}"><img src="${imageOf(product)}" alt="${escapeHtml(product.name)}" width="320" height="240"><div>${escapeHtml(product.name)}<br><span class="price">${money(product.price)}</span></div></a>`).join('')}</div>`;
const stories = (articles: readonly Article[]): string =>
  `<div class="grid">${articles.map((article) => `<a class="card" href="${PREFIX}journal/${article.slug}"><div><strong>${article.title}</strong><br>${article.lead}</div></a>`).join('')}</div>`;

function home(): Answer {
  const main = `<h1>Things worth keeping</h1><p class="lead">Kettles, lamps, blankets and tools, chosen by four people by the water.</p>${cards(PRODUCTS.slice(0, 8))}<h2>From the journal</h2>${stories(ARTICLES)}`;
  return view({
    path: PREFIX,
    title: 'Things worth keeping',
    about: 'Kettles, lamps, blankets and tools that last.',
    main,
    data: { '@context': 'https://schema.org', '@type': 'Store', name: NAME, url: PREFIX },
  });
}

function product(item: Product): Answer {
  const path = `${PREFIX}product/${item.slug}`;
  const category = CATEGORIES.find(({ slug }) => slug === item.category);
  const others = PRODUCTS.filter((other) => other.category === item.category && other !== item);
  const main =
    `<p><a href="${PREFIX}">Shop</a> › <a href="${PREFIX}${item.category}">${category?.name ?? ''}</a></p><div class="two"><img src="${imageOf(item)}" alt="${escapeHtml(item.name)}"><div>` +
    `<h1>${escapeHtml(item.name)}</h1><p class="lead">${escapeHtml(item.about)}</p><p class="price">${money(item.price)}</p><p>${item.stock > 0 ? `In stock: ${item.stock}` : 'Sold out'} · ★ ${item.rating} (${item.reviews} reviews)</p><button>Add to basket</button>` +
    `<p>${paragraph(randomFrom(seedOf(item.slug)), 500)}</p></div></div><h2>Goes well with</h2>${cards(others)}`;
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: item.name,
    sku: item.slug,
    description: item.about,
    image: imageOf(item),
    brand: { '@type': 'Brand', name: NAME },
    offers: {
      '@type': 'Offer',
      price: item.price.toFixed(2),
      priceCurrency: 'EUR',
      availability: `https://schema.org/${item.stock > 0 ? 'InStock' : 'OutOfStock'}`,
      url: path,
    },
    aggregateRating: { '@type': 'AggregateRating', ratingValue: item.rating, reviewCount: item.reviews },
  };
  return view({ path, title: item.name, about: item.about, main, data, image: imageOf(item) });
}

function article(item: Article): Answer {
  const path = `${PREFIX}journal/${item.slug}`;
  const random = randomFrom(seedOf(item.slug));
  const prose = Array.from({ length: 6 }, () => `<p>${paragraph(random, 600)}</p>`).join('\n');
  const main = `<article><p><a href="${PREFIX}journal">Journal</a></p><h1>${item.title}</h1><p class="lead">${item.lead}</p><p>By ${item.author}, <time datetime="${item.date}">${item.date}</time></p>${prose}<h2>Seen in this story</h2></article>${cards(PRODUCTS.filter(({ slug }) => slug === item.product))}`;
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Article',
    headline: item.title,
    description: item.lead,
    datePublished: item.date,
    author: { '@type': 'Person', name: item.author },
  };
  return view({ path, title: item.title, about: item.lead, main, data });
}

function picture(item: Product): Answer {
  const tone = (light: number): string => `hsl(${item.hue} 45% ${light}%)`;
  return reply(
    200,
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 240"><rect width="320" height="240" fill="${tone(90)}"/><circle cx="160" cy="130" r="70" fill="${tone(60)}"/><rect x="110" y="185" width="100" height="12" rx="6" fill="${tone(38)}"/><text x="160" y="138" font-family="Georgia" font-size="20" text-anchor="middle" fill="#fff">${escapeHtml(item.name.split(' ')[0] ?? '')}</text></svg>`,
  );
}

/** Every page of the shop, home first. */
export const SHOP_PATHS: readonly string[] = [
  PREFIX,
  ...CATEGORIES.map(({ slug }) => PREFIX + slug),
  ...PRODUCTS.map(({ slug }) => `${PREFIX}product/${slug}`),
  `${PREFIX}journal`,
  ...ARTICLES.map(({ slug }) => `${PREFIX}journal/${slug}`),
  ...Object.keys(INFO).map((slug) => PREFIX + slug),
];

function sitemap(request: SiteRequest): Answer {
  const urls = SHOP_PATHS.map(
    (path) => `<url><loc>http://${request.host}${path}</loc><lastmod>2024-11-01</lastmod></url>`,
  );
  return reply(
    200,
    'application/xml',
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`,
  );
}

export const shop: Family = {
  prefix: PREFIX,
  about: 'a small shop with structured data',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second] = segmentsOf(request, PREFIX);
    if (first === '') return home();
    if (first === 'sitemap.xml') return sitemap(request);
    if (first === 'product') {
      const item = PRODUCTS.find(({ slug }) => slug === second);
      return item === undefined ? null : product(item);
    }
    if (first === 'images') {
      const item = PRODUCTS.find(({ slug }) => `${slug}.svg` === second);
      return item === undefined ? null : picture(item);
    }
    if (first === 'journal') {
      if (second === undefined) {
        return view({
          path: `${PREFIX}journal`,
          title: 'Journal',
          about: 'Stories about things.',
          main: `<h1>Journal</h1>${stories(ARTICLES)}`,
        });
      }
      const item = ARTICLES.find(({ slug }) => slug === second);
      return item === undefined ? null : article(item);
    }
    const category = CATEGORIES.find(({ slug }) => slug === first);
    if (category !== undefined) {
      const main = `<h1>${category.name}</h1><p class="lead">${category.about}</p>${cards(PRODUCTS.filter((item) => item.category === category.slug))}`;
      return view({ path: PREFIX + category.slug, title: category.name, about: category.about, main });
    }
    const info = Object.hasOwn(INFO, first) ? INFO[first] : undefined;
    return info === undefined
      ? null
      : view({
          path: PREFIX + first,
          title: info.title,
          about: info.title,
          main: `<h1>${info.title}</h1>${info.body}`,
        });
  },
};
