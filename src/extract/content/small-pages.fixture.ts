/** Bodies of pages of a few lines: a name, the HTML between header and footer, and texts that the content must have. */
export const SMALL_BODIES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'contact p',
    '<main><h1>Contact</h1><p>12 Mill Lane, Leeds LS1 4AB</p><p>Phone: 0113 496 0000</p><p>Email: hello@bakery.example</p></main>',
    ['Contact', '12 Mill Lane', '0113 496 0000', 'hello@bakery'],
  ],
  [
    'contact ul',
    '<main><h1>Contact</h1><ul><li>12 Mill Lane, Leeds</li><li>0113 496 0000</li><li><a href="mailto:hello@bakery.example">hello@bakery.example</a></li></ul></main>',
    ['Contact', '12 Mill Lane', '0113 496', 'hello@bakery'],
  ],
  [
    'contact address',
    '<main><h1>Contact</h1><address>Corner Bakery<br>12 Mill Lane<br>Leeds LS1 4AB<br>Tel. 0113 496 0000</address></main>',
    ['12 Mill Lane', 'LS1 4AB', '0113 496'],
  ],
  [
    'contact dl',
    '<main><h1>Contact</h1><dl><dt>Address</dt><dd>12 Mill Lane, Leeds</dd><dt>Phone</dt><dd>0113 496 0000</dd><dt>Email</dt><dd><a href="mailto:a@b.example">a@b.example</a></dd></dl></main>',
    ['Address', '12 Mill Lane', 'Phone', '0113 496', 'a@b.example'],
  ],
  [
    'contact table',
    '<main><h1>Contact</h1><table><tr><th>Phone</th><td>0113 496 0000</td></tr><tr><th>Fax</th><td>0113 496 0001</td></tr></table></main>',
    ['Phone', '0113 496 0000', 'Fax', '0113 496 0001'],
  ],
  [
    'hours table',
    '<main><h1>Opening hours</h1><table><tr><th>Day</th><th>Hours</th></tr><tr><td>Monday</td><td>9:00–18:00</td></tr><tr><td>Tuesday</td><td>9:00–18:00</td></tr><tr><td>Wednesday</td><td>9:00–18:00</td></tr><tr><td>Thursday</td><td>9:00–18:00</td></tr><tr><td>Friday</td><td>9:00–18:00</td></tr><tr><td>Saturday</td><td>9:00–18:00</td></tr><tr><td>Sunday</td><td>closed</td></tr></table></main>',
    ['Opening hours', 'Day', 'Monday', 'Sunday', 'closed'],
  ],
  [
    'hours table 3',
    '<main><h1>Opening hours</h1><table><tr><td>Mon–Fri</td><td>9–18</td></tr><tr><td>Sat</td><td>10–14</td></tr><tr><td>Sun</td><td>closed</td></tr></table></main>',
    ['Opening hours', 'Mon–Fri', '9–18', 'Sat', '10–14', 'Sun', 'closed'],
  ],
  [
    'hours dl',
    '<main><h1>Opening hours</h1><dl><dt>Mon–Fri</dt><dd>9–18</dd><dt>Sat</dt><dd>10–14</dd></dl></main>',
    ['Mon–Fri', '9–18', 'Sat', '10–14'],
  ],
  [
    'hours ul',
    '<main><h1>Opening hours</h1><ul><li>Mon–Fri 9–18</li><li>Sat 10–14</li><li>Sun closed</li></ul></main>',
    ['Mon–Fri 9–18', 'Sat 10–14', 'Sun closed'],
  ],
  [
    'hours p',
    '<main><h1>Opening hours</h1><p>Mon–Fri 9–18<br>Sat 10–14<br>Sun closed</p></main>',
    ['Mon–Fri 9–18', 'Sat 10–14', 'Sun closed'],
  ],
  [
    'hours section',
    '<main><section><h2>Opening hours</h2><p>Every day from 9 to 18.</p></section><section><h2>Where</h2><p>12 Mill Lane, Leeds.</p></section></main>',
    ['Opening hours', 'Every day from 9', 'Where', '12 Mill Lane'],
  ],
  [
    'price ul 3',
    '<main><h1>Prices</h1><ul><li>Haircut £20</li><li>Beard trim £10</li><li>Shave £15</li></ul></main>',
    ['Prices', 'Haircut £20', 'Beard trim £10', 'Shave £15'],
  ],
  [
    'price table 3',
    '<main><h1>Prices</h1><table><thead><tr><th>Service</th><th>Price</th></tr></thead><tbody><tr><td>Haircut</td><td>£20</td></tr><tr><td>Beard trim</td><td>£10</td></tr><tr><td>Shave</td><td>£15</td></tr></tbody></table></main>',
    ['Service', 'Price', 'Haircut', '£20', 'Beard trim', 'Shave', '£15'],
  ],
  [
    'price dl',
    '<main><h1>Prices</h1><dl><dt>Haircut</dt><dd>£20</dd><dt>Shave</dt><dd>£15</dd></dl></main>',
    ['Haircut', '£20', 'Shave', '£15'],
  ],
  [
    'price divs',
    '<main><h1>Prices</h1><div class="plan"><h2>Basic</h2><p class="price">$9 a month</p></div><div class="plan"><h2>Pro</h2><p class="price">$29 a month</p></div><div class="plan"><h2>Team</h2><p class="price">$99 a month</p></div></main>',
    ['Basic', '$9 a month', 'Pro', '$29', 'Team', '$99'],
  ],
  [
    'dl 4',
    '<main><h1>Glossary</h1><dl><dt>API</dt><dd>A way for programs to talk.</dd><dt>SDK</dt><dd>A kit for developers.</dd><dt>CLI</dt><dd>Commands in a terminal.</dd><dt>GUI</dt><dd>Windows and buttons.</dd></dl></main>',
    ['Glossary', 'API', 'programs to talk', 'SDK', 'kit', 'CLI', 'terminal', 'GUI', 'buttons'],
  ],
  [
    'dl short',
    '<main><h1>Facts</h1><dl><dt>Height</dt><dd>324 m</dd><dt>Built</dt><dd>1889</dd><dt>Steps</dt><dd>1665</dd><dt>Paint</dt><dd>60 t</dd></dl></main>',
    ['Height', '324 m', '1889', 'Steps', '1665', '60 t'],
  ],
  [
    'changelog',
    '<main><h1>Changelog</h1><h2>1.2.0</h2><ul><li>Added dark mode</li><li>Fixed login</li></ul><h2>1.1.0</h2><ul><li>Faster start</li></ul></main>',
    ['1.2.0', 'Added dark mode', 'Fixed login', '1.1.0', 'Faster start'],
  ],
  [
    'changelog article',
    '<article><h1>Release notes</h1><h3>v2.0</h3><ul><li>New editor</li></ul><h3>v1.9</h3><ul><li>Bug fixes</li></ul></article>',
    ['v2.0', 'New editor', 'v1.9', 'Bug fixes'],
  ],
  [
    'changelog dates',
    '<main><h1>Changelog</h1><h2>1.0.1 – 2026-01-02</h2><p>Fixed a crash.</p><h2>1.0.0 – 2026-01-01</h2><p>First release.</p></main>',
    ['1.0.1', 'Fixed a crash', '1.0.0', 'First release'],
  ],
  [
    'recipe',
    '<main><h1>Pancakes</h1><h2>Ingredients</h2><ul><li>2 eggs</li><li>200 g flour</li><li>300 ml milk</li><li>a pinch of salt</li></ul><h2>Method</h2><ol><li>Mix everything.</li><li>Fry in a pan.</li></ol></main>',
    [
      'Ingredients',
      '2 eggs',
      '200 g flour',
      '300 ml milk',
      'pinch of salt',
      'Mix everything',
      'Fry in a pan',
    ],
  ],
  [
    'recipe ingredients',
    '<main><h1>Pancakes</h1><ul class="ingredients"><li>2 eggs</li><li>200 g flour</li><li>300 ml milk</li></ul></main>',
    ['2 eggs', '200 g flour', '300 ml milk'],
  ],
  [
    'recipe span',
    '<main><h1>Pancakes</h1><ul><li><span>2</span> <span>eggs</span></li><li><span>200 g</span> <span>flour</span></li></ul></main>',
    ['eggs', 'flour', '200 g'],
  ],
  [
    'list of links main',
    '<main><h1>Downloads</h1><ul><li><a href="/a.pdf">Annual report 2025 (PDF)</a></li><li><a href="/b.pdf">Annual report 2024 (PDF)</a></li><li><a href="/c.pdf">Annual report 2023 (PDF)</a></li></ul></main>',
    ['Downloads', 'report 2025', 'report 2024', 'report 2023'],
  ],
  [
    'team',
    '<main><h1>Our team</h1><ul><li>Ann Lee, baker</li><li>Bob May, driver</li><li>Cy Poe, sales</li></ul></main>',
    ['Ann Lee', 'Bob May', 'Cy Poe'],
  ],
  [
    'team cards',
    '<main><h1>Our team</h1><div class="card"><h3>Ann Lee</h3><p>Baker</p></div><div class="card"><h3>Bob May</h3><p>Driver</p></div></main>',
    ['Ann Lee', 'Baker', 'Bob May', 'Driver'],
  ],
  [
    'faq',
    '<main><h1>FAQ</h1><h3>Do you deliver?</h3><p>Yes, in Leeds.</p><h3>Do you take cards?</h3><p>Yes.</p></main>',
    ['Do you deliver', 'Yes, in Leeds', 'Do you take cards'],
  ],
  [
    'faq details',
    '<main><h1>FAQ</h1><details><summary>Do you deliver?</summary><p>Yes, in Leeds.</p></details><details><summary>Cards?</summary><p>Yes, all of them.</p></details></main>',
    ['Do you deliver', 'Yes, in Leeds', 'Cards?', 'all of them'],
  ],
  [
    'notice',
    '<main><h1>Closed</h1><p>We are on holiday until 3 May.</p></main>',
    ['Closed', 'on holiday until 3 May'],
  ],
  ['notice only p', '<main><p>We are on holiday until 3 May.</p></main>', ['on holiday until 3 May']],
  [
    'poem',
    '<main><h1>Short poem</h1><p>Red leaves<br>fall down<br>in rain</p></main>',
    ['Red leaves', 'fall down', 'in rain'],
  ],
  [
    'event',
    '<main><h1>Spring fair</h1><p>Date: 3 May 2026</p><p>Place: Town hall</p><p>Entry: free</p></main>',
    ['Spring fair', '3 May 2026', 'Town hall', 'Entry: free'],
  ],
  [
    'event ul',
    '<main><h1>Events</h1><ul><li>3 May: Spring fair</li><li>9 June: Bread day</li><li>1 July: Summer party</li></ul></main>',
    ['Spring fair', 'Bread day', 'Summer party'],
  ],
  [
    'event table',
    '<main><h1>Events</h1><table><tr><th>Date</th><th>Event</th><th>Place</th></tr><tr><td>3 May</td><td>Spring fair</td><td>Town hall</td></tr><tr><td>9 June</td><td>Bread day</td><td>Market</td></tr></table></main>',
    ['Date', 'Event', 'Place', '3 May', 'Spring fair', 'Town hall', '9 June', 'Bread day', 'Market'],
  ],
  [
    'spec table',
    '<main><h1>Oven X1</h1><table><tr><th>Width</th><td>60 cm</td></tr><tr><th>Height</th><td>85 cm</td></tr><tr><th>Power</th><td>3 kW</td></tr></table></main>',
    ['Oven X1', 'Width', '60 cm', 'Height', '85 cm', 'Power', '3 kW'],
  ],
  [
    'spec dl intro',
    '<main><h1>Oven X1</h1><p>A small oven for small kitchens.</p><dl><dt>Width</dt><dd>60 cm</dd><dt>Power</dt><dd>3 kW</dd></dl></main>',
    ['small oven', 'Width', '60 cm', 'Power', '3 kW'],
  ],
  [
    'product short',
    '<main><h1>Blue mug</h1><p>£8.50</p><p>Holds 300 ml.</p><button>Add to cart</button></main>',
    ['Blue mug', '£8.50', 'Holds 300 ml'],
  ],
  [
    'steps ol',
    '<main><h1>How to order</h1><ol><li>Call us.</li><li>Tell us what.</li><li>Pick it up.</li></ol></main>',
    ['Call us', 'Tell us what', 'Pick it up'],
  ],
  [
    'links intro',
    '<main><h1>Links</h1><p>Places that we like:</p><ul><li><a href="https://a.example">Mill museum</a></li><li><a href="https://b.example">Flour club</a></li></ul></main>',
    ['Places that we like', 'Mill museum', 'Flour club'],
  ],
  [
    'code',
    '<main><h1>Install</h1><pre><code>npm install bread</code></pre><p>Then run it.</p></main>',
    ['npm install bread', 'Then run it'],
  ],
  [
    'quote',
    '<main><h1>Reviews</h1><blockquote>Best bread in town.</blockquote><blockquote>Lovely people.</blockquote></main>',
    ['Best bread', 'Lovely people'],
  ],
  [
    'german hours',
    '<main><h1>Öffnungszeiten</h1><table><tr><td>Montag</td><td>8–12 Uhr</td></tr><tr><td>Dienstag</td><td>14–18 Uhr</td></tr></table><p>Mittwoch geschlossen</p></main>',
    ['Öffnungszeiten', 'Montag', '8–12', 'Dienstag', '14–18', 'Mittwoch'],
  ],
  [
    'german contact',
    '<main><h1>Kontakt</h1><p>Mühlgasse 12<br>04103 Leipzig</p><p>Telefon 0341 123456</p></main>',
    ['Mühlgasse 12', '04103 Leipzig', '0341 123456'],
  ],
  [
    'table 2rows',
    '<main><h1>Fees</h1><p>Our fees at a glance.</p><table><tr><th>Adult</th><th>Child</th></tr><tr><td>£5</td><td>£2</td></tr></table></main>',
    ['Adult', 'Child', '£5', '£2'],
  ],
  [
    'role main',
    '<div role="main"><h1>Prices</h1><ul><li>Bread £3</li><li>Rolls £1</li></ul></div>',
    ['Bread £3', 'Rolls £1'],
  ],
  [
    'article short',
    '<article><h2>News</h2><p>New shop opens on Monday.</p></article>',
    ['News', 'opens on Monday'],
  ],
  [
    'main h2 lists',
    '<main><h1>Menu</h1><h2>Breads</h2><ul><li>Rye</li><li>White</li><li>Spelt</li></ul><h2>Cakes</h2><ul><li>Lemon</li><li>Apple</li></ul></main>',
    ['Breads', 'Rye', 'White', 'Spelt', 'Cakes', 'Lemon', 'Apple'],
  ],
  [
    'main with sidebar',
    '<main><h1>Prices</h1><ul><li>Bread £3</li><li>Rolls £1</li></ul><aside><h3>Related</h3><ul><li><a href=/x>Our flour story</a></li><li><a href=/y>Oven secrets</a></li></ul></aside></main>',
    ['Bread £3', 'Rolls £1'],
  ],
  [
    'main with nav',
    '<main><nav class="breadcrumb"><a href="/">Home</a> › <a href="/p">Prices</a></nav><h1>Prices</h1><table><tr><td>Bread</td><td>£3</td></tr><tr><td>Rolls</td><td>£1</td></tr></table></main>',
    ['Bread', '£3', 'Rolls', '£1'],
  ],
  [
    'status',
    '<main><h1>Status</h1><ul><li>API: operational</li><li>Website: operational</li><li>Mail: degraded</li></ul><p>Updated 12:04.</p></main>',
    ['API: operational', 'Mail: degraded', 'Updated 12:04'],
  ],
];
