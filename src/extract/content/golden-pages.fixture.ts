/** Small pages of every type, written for the tests. What must be found is marked `KEEP`, what must not be `DROP`. */
export interface GoldenPage {
  readonly type: string;
  readonly url: string;
  readonly html: string;
}

const NAV = `<header class="site-header"><a class="logo" href="/">Acme DROP</a><nav class="main-nav"><ul>
<li><a href="/a">Products DROP</a></li><li><a href="/b">Pricing DROP</a></li><li><a href="/c">About us DROP</a></li><li><a href="/login">Sign in DROP</a></li>
</ul></nav></header>`;
const COOKIES = `<div id="cookie-banner" class="cookie-consent" role="dialog"><p>We use cookies to improve your experience. DROP</p><button>Accept all DROP</button></div>`;
const FOOTER = `<footer class="site-footer"><ul><li><a href="/privacy">Privacy policy DROP</a></li><li><a href="/terms">Terms of use DROP</a></li><li><a href="/jobs">Careers DROP</a></li></ul>
<p>© 2025 Acme Inc. All rights reserved. DROP</p></footer>`;

const page = (title: string, body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head><title>${title} | Acme</title><meta property="og:site_name" content="Acme">${head}</head><body>${NAV}${body}${FOOTER}${COOKIES}</body></html>`;

const SENTENCES = [
  'The river had been rising since the early morning, and by noon the old bridge, which had stood for two hundred years, was closed to all traffic.',
  'Engineers from the county came with instruments and long faces, measured the piers twice, and told the mayor that nobody should hope for good news.',
  'In the evening the water fell as quickly as it had come, and the people of the town went out with lamps to see what the flood had left behind.',
  'What they found was mud, broken fences, and a boat that nobody had ever seen before, tied to the church door with a new rope.',
];
const prose = (count: number): string =>
  SENTENCES.slice(0, count)
    .map((sentence) => `<p>${sentence} KEEP</p>`)
    .join('\n');

export const GOLDEN_PAGES: readonly GoldenPage[] = [
  {
    type: 'article',
    url: 'https://www.example.com/blog/2025/the-night-of-the-flood',
    html: page(
      'The night of the flood',
      `<main><article class="post"><h1>The night of the flood</h1><p class="byline">By <a rel="author" href="/u/ann">Ann Bell</a> <time datetime="2025-03-04">4 March 2025</time></p>
<div class="entry-content">${prose(4)}<h2>The boat KEEP</h2><p>Nobody in the town owned such a boat, and the painter who lived by the harbour said that its colours, green and a faded white, were not from this coast. KEEP</p>
<blockquote><p>It was not ours, and it was not lost either, the harbour master said when he was asked about it. KEEP</p></blockquote></div>
<div class="share-bar"><a href="https://f.example/share">Share on Facebook DROP</a> <a href="https://t.example/share">Tweet DROP</a></div></article>
<section class="related-posts"><h2>Related posts DROP</h2><ul><li><a href="/1">Ten things to do in spring DROP</a></li><li><a href="/2">Our favourite boats DROP</a></li><li><a href="/3">How bridges work DROP</a></li></ul></section>
<div class="newsletter-signup"><h3>Subscribe to our newsletter DROP</h3><p>Get the latest stories in your inbox. DROP</p></div></main>`,
      '<meta property="og:type" content="article"><meta property="article:published_time" content="2025-03-04T08:00:00Z"><meta property="article:modified_time" content="2025-03-05">',
    ),
  },
  {
    type: 'documentation',
    url: 'https://docs.example.com/en/latest/guide/install.html',
    html: page(
      'Installing',
      `<div class="sidebar toc"><ul><li><a href="intro.html">Introduction DROP</a></li><li><a href="install.html">Installing DROP</a></li><li><a href="api.html">API reference DROP</a></li></ul></div>
<main class="document"><div class="body" role="main"><section id="installing"><h1>Installing</h1><p>The package needs a recent version of the runtime, which is included in most distributions. KEEP</p>
<h2>From the registry KEEP</h2><p>Run the following command in the folder of your project, and answer the questions it asks: KEEP</p><div class="highlight-bash"><pre>pkg install acme KEEP</pre></div>
<p>The command writes a settings file, which you should keep under version control, because it holds the versions of everything that was installed. KEEP</p>
<table><tr><th>Option KEEP</th><th>Meaning KEEP</th></tr><tr><td>--force KEEP</td><td>Install even if the version is older than the one found KEEP</td></tr><tr><td>--quiet KEEP</td><td>Print nothing but errors KEEP</td></tr></table></section></div></main>`,
    ),
  },
  {
    type: 'forum',
    url: 'https://forum.example.com/threads/strange-noise-from-the-pump.1234/',
    html: page(
      'Strange noise from the pump',
      `<div class="breadcrumbs"><a href="/">Forums DROP</a> » <a href="/h">Heating DROP</a></div><h1>Strange noise from the pump</h1><div class="thread messageList">${[
        'My pump has made a knocking noise since last week, and it gets louder when the heating is on. Has anybody seen this before, and is it safe to keep it running?',
        'That is usually air in the system. Bleed the radiators on the top floor first, then check the pressure, and see whether the noise is still there afterwards.',
        'Thanks, I bled all radiators yesterday and the noise is gone. The pressure had dropped to half a bar, so I filled it up as well.',
      ]
        .map(
          (text, index) =>
            `<article class="message post" id="post-${index}"><div class="message-user"><h4 class="username">user${index}</h4></div><div class="message-body"><div class="bbWrapper">${text} KEEP</div></div><ul class="message-actions"><li><a href="#r">Reply</a></li><li><a href="#q">Quote</a></li></ul></article>`,
        )
        .join('')}</div>`,
    ),
  },
  {
    type: 'product',
    url: 'https://shop.example.com/products/walnut-desk',
    html: page(
      'Walnut desk',
      `<main class="product-page"><div class="product-gallery"><img src="/desk.jpg" alt="Desk" width="800" height="600"></div><div class="product-info"><h1 class="product-title">Walnut desk</h1><p class="price">$499.00</p>
<form class="product-form"><select><option>Oak DROP</option><option>Walnut</option></select><button>Add to cart DROP</button></form><div class="product-description"><p>A solid desk made of oiled walnut, with two drawers that run on wooden rails and a shelf for books below the top. KEEP</p>
<p>Every desk is made to order in our workshop, which takes about four weeks, and is delivered in two parcels with all the tools you need. KEEP</p></div>
<div class="product-specifications"><h2>Specifications KEEP</h2><table><tr><th>Width KEEP</th><td>160 cm KEEP</td></tr><tr><th>Depth KEEP</th><td>80 cm KEEP</td></tr><tr><th>Weight KEEP</th><td>38 kg KEEP</td></tr></table></div></div></main>
<section class="related-products"><h2>You may also like DROP</h2><ul><li><a href="/p/1">Oak chair DROP</a></li><li><a href="/p/2">Pine shelf DROP</a></li><li><a href="/p/3">Desk lamp DROP</a></li></ul></section>`,
      '<meta property="og:type" content="product"><script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Walnut desk","offers":{"@type":"Offer","price":"499.00"}}</script>',
    ),
  },
  {
    type: 'service',
    url: 'https://www.example.com/services/tax-advice',
    html: page(
      'Tax advice for small companies',
      `<main><section class="hero"><h1>Tax advice for small companies</h1><p>We take care of returns, audits and payroll, so that you can take care of your customers and your work. KEEP</p></section>
<section class="features"><h2>What we do KEEP</h2><div class="feature"><h3>Annual returns KEEP</h3><p>We prepare the annual returns of your company, check them with you line by line, and send them to the office in time. KEEP</p></div>
<div class="feature"><h3>Payroll KEEP</h3><p>Every month we compute wages and contributions for up to fifty people and send the slips to each of them. KEEP</p></div>
<div class="feature"><h3>Audits KEEP</h3><p>When the office announces an audit, we prepare the papers, sit at the table with you, and answer the questions. KEEP</p></div></section></main>`,
    ),
  },
  {
    type: 'listing',
    url: 'https://www.example.com/news',
    html: page(
      'News',
      `<main><h1>News</h1><div class="post-list">${[
        [
          'A new bridge for the old town',
          'The council has decided on the plans for the new bridge, which will be open to walkers and cyclists from next summer.',
        ],
        [
          'The library stays open longer',
          'From September the library will be open until ten in the evening on weekdays, and on Sundays for the first time.',
        ],
        [
          'More trees for the market square',
          'Twelve lime trees will be planted on the market square in autumn, paid for by citizens and local companies.',
        ],
        [
          'The tram gets a third line',
          'The third line will join the hospital and the new quarter by the river, with a tram every ten minutes.',
        ],
      ]
        .map(
          ([title, text], index) =>
            `<article class="post-item"><h2><a href="/news/${index}">${title} KEEP</a></h2><p class="excerpt">${text} KEEP</p></article>`,
        )
        .join(
          '',
        )}</div><nav class="pagination"><a href="?page=2">2 DROP</a> <a href="?page=3">3 DROP</a> <a href="?page=2">Next page DROP</a></nav></main>`,
    ),
  },
  {
    type: 'collection',
    url: 'https://shop.example.com/collections/chairs',
    html: page(
      'Chairs',
      `<main class="collection"><h1>Chairs</h1><div class="collection-description"><p>Chairs for the kitchen, the office and the garden, made of oak, walnut and pine by carpenters who sign each of them. KEEP</p></div><ul class="product-grid">${[
        ['Kitchen chair Anna', '89.00'],
        ['Office chair Bruno', '249.00'],
        ['Garden chair Clara', '119.00'],
        ['Rocking chair Dora', '329.00'],
        ['Folding chair Emil', '59.00'],
      ]
        .map(
          ([name, price]) =>
            `<li class="product-card"><a href="/products/x"><h3 class="card-title">${name}</h3></a><span class="price">$${price}</span></li>`,
        )
        .join('')}</ul></main>`,
    ),
  },
];
