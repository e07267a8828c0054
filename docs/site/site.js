// What the pages of the documentation do in a browser: theme, menu, copy buttons, search, and where the reader is.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

// Theme: the system's, until the reader has chosen one.
$('.theme')?.addEventListener('click', () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', root.dataset.theme);
  } catch {
    // The choice then holds for this page only.
  }
});

// Menu of narrow screens.
const menu = $('.menu');
function showMenu(isOpen) {
  document.body.classList.toggle('menu-open', isOpen);
  menu?.setAttribute('aria-expanded', String(isOpen));
}
menu?.addEventListener('click', () => showMenu(!document.body.classList.contains('menu-open')));
$('#content')?.addEventListener('click', () => showMenu(false));
$('.sidebar [aria-current]')?.scrollIntoView({ block: 'center' });
scrollTo(0, location.hash ? scrollY : 0);

// Copy buttons. The clipboard of browsers is there on https and localhost only; a selection works everywhere.
async function copyText(text) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'offscreen';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
for (const button of $$('.copy')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const code = $('code', button.parentElement)?.textContent ?? '';
    try {
      await copyText(code);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}

// Table of contents: the section that is being read is marked.
const entries = new Map($$('.toc a').map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
if (entries.size > 0) {
  const headings = [...entries.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  let isPlanned = false;
  const mark = () => {
    isPlanned = false;
    const read =
      headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1) ?? headings[0];
    for (const [id, link] of entries) link.classList.toggle('here', id === read?.id);
  };
  addEventListener(
    'scroll',
    () => {
      if (isPlanned) return;
      isPlanned = true;
      requestAnimationFrame(mark);
    },
    { passive: true },
  );
  mark();
}

// Search: the index is loaded when the field is first used, and everything else happens here.
const form = $('.search');
const input = $('.search input');
const hits = $('#hits');
/** Pages that explain come first; the inside of the project is for those who build it. */
const WEIGHTS = { 'Start here': 1.1, Guides: 1.1, Reference: 1.1, Inside: 0.5 };
const MOST_HITS = 12;
const MOST_HITS_OF_A_PAGE = 3;
const SNIPPET_BEFORE = 40;
const SNIPPET_LENGTH = 150;
let index = null;
let chosen = -1;

function loadIndex() {
  index ??= fetch(form.dataset.index)
    .then((response) => response.json())
    .then(({ pages, sections }) =>
      sections.map(([page, id, heading, text]) => {
        const [slug, title, group] = pages[page];
        return {
          address: `/help/${slug}${id === '' ? '' : `#${id}`}`,
          title,
          group,
          heading: heading === title ? '' : heading,
          text,
          lowTitle: title.toLowerCase(),
          lowHeading: heading.toLowerCase(),
          lowText: text.toLowerCase(),
        };
      }),
    );
  return index;
}

/** Every word must occur; titles and headings count more than text, and whole words more than parts. */
function scoreOf(section, words) {
  let score = 0;
  for (const word of words) {
    const here =
      (section.heading === '' ? 12 : 4) * matchIn(section.lowTitle, word) +
      8 * matchIn(section.lowHeading, word) +
      2 * matchIn(section.lowText, word);
    if (here === 0) return 0;
    score += here;
  }
  return score * (WEIGHTS[section.group] ?? 1) * (section.address.startsWith('/help/api/') ? 0.7 : 1);
}

/** 1 for a whole word, 0.8 for the beginning of one; the inside of a word counts little, as in "rate" of "strategy". */
function matchIn(text, word) {
  // The plural is the same word: proxy and proxies, page and pages.
  if (word.endsWith('y')) return Math.max(placesOf(text, word), placesOf(text, `${word.slice(0, -1)}ies`));
  if (word.endsWith('ies')) return Math.max(placesOf(text, word), placesOf(text, `${word.slice(0, -3)}y`));
  if (word.endsWith('s')) return Math.max(placesOf(text, word), placesOf(text, word.slice(0, -1)));
  return Math.max(placesOf(text, word), placesOf(text, `${word}s`));
}

function placesOf(text, word) {
  let best = 0;
  for (let at = text.indexOf(word); at !== -1 && best < 1; at = text.indexOf(word, at + 1)) {
    const isStart = at === 0 || !/[a-z0-9_]/.test(text[at - 1]);
    const isEnd = !/[a-z0-9_]/.test(text[at + word.length] ?? ' ');
    best = Math.max(best, isStart ? (isEnd ? 1 : 0.8) : 0.1);
  }
  return best;
}

function marked(text, words) {
  const parts = document.createDocumentFragment();
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[^\w\s]/g, '\\$&')).join('|')})`, 'ig');
  for (const [at, part] of text.split(pattern).entries()) {
    const piece = at % 2 === 0 ? document.createTextNode(part) : document.createElement('mark');
    piece.textContent = part;
    parts.append(piece);
  }
  return parts;
}

function snippetOf({ text, lowText }, words) {
  const places = words.map((word) => lowText.indexOf(word)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - SNIPPET_BEFORE);
  const start = from === 0 || places.length === 0 ? 0 : text.indexOf(' ', from) + 1;
  const cut = text.slice(start, start + SNIPPET_LENGTH);
  return `${start > 0 ? '… ' : ''}${cut}${start + SNIPPET_LENGTH < text.length ? ' …' : ''}`;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return showHits([], words);
  const sections = await loadIndex();
  const found = sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const perPage = new Map();
  const shown = found.filter(({ section }) => {
    const before = perPage.get(section.title) ?? 0;
    perPage.set(section.title, before + 1);
    return before < MOST_HITS_OF_A_PAGE;
  });
  showHits(
    shown.slice(0, MOST_HITS).map(({ section }) => section),
    words,
  );
}

function showHits(found, words) {
  chosen = -1;
  hits.replaceChildren(
    ...found.map((section, at) => {
      const link = document.createElement('a');
      link.href = section.address;
      link.id = `hit-${at}`;
      link.role = 'option';
      const place = document.createElement('span');
      place.className = 'place';
      place.append(
        marked(section.heading === '' ? section.title : `${section.title} › ${section.heading}`, words),
      );
      const text = document.createElement('span');
      text.className = 'snippet';
      text.append(marked(snippetOf(section, words), words));
      link.append(place, text);
      return link;
    }),
  );
  if (found.length === 0 && words.length > 0) {
    const none = document.createElement('p');
    none.textContent = 'Nothing found. Try fewer or shorter words.';
    hits.append(none);
  }
  const isOpen = words.length > 0;
  hits.hidden = !isOpen;
  input.setAttribute('aria-expanded', String(isOpen));
  choose(found.length > 0 ? 0 : -1);
}

function choose(at) {
  const links = $$('a', hits);
  chosen = links.length === 0 ? -1 : (at + links.length) % links.length;
  for (const [place, link] of links.entries()) link.setAttribute('aria-selected', String(place === chosen));
  links[chosen]?.scrollIntoView({ block: 'nearest' });
  if (chosen >= 0) input.setAttribute('aria-activedescendant', links[chosen].id);
}

if (form !== null && input !== null && hits !== null) {
  input.addEventListener('focus', loadIndex);
  input.addEventListener('input', search);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    $$('a', hits)[Math.max(0, chosen)]?.click();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Escape') {
      input.value = '';
      showHits([], []);
      input.blur();
    }
  });
  hits.addEventListener('click', () => {
    hits.hidden = true;
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) hits.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    const isShortcut = event.key === '/' || (event.key === 'k' && (event.metaKey || event.ctrlKey));
    if (!isShortcut || (isTyping && event.key === '/') || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  const asked = new URLSearchParams(location.search).get('q');
  if (asked) {
    input.value = asked;
    search();
  }
}
