import { type Answer, html } from '../../exchange.ts';
import { documentOf, link } from '../../layout.ts';
import { paragraph } from '../../prose.ts';
import { randomFrom } from '../../random.ts';
import { PREFIX } from './shell.ts';

/** Pages to do something on, and to look at. */
const BANDS = 10;
const BAND_PX = 600;
/** Height of the page `tall`, whatever the window. */
export const TALL_PX = BANDS * BAND_PX;
/** Size of the element `#mark` on that page. */
export const MARK_PX = { width: 200, height: 100 };

const actionsPage = (): Answer =>
  html(
    documentOf({
      title: 'Things to do',
      body: `<p>${paragraph(randomFrom(41), 200)}</p>
<p><button id="add">Add</button> <span id="count">Count: 0</span></p>
<p><input id="name"> <span id="mirror"></span> <span id="entered"></span></p>
<p><select id="colour"><option value="">none</option><option value="red">Red</option><option value="blue">Blue</option></select> <span id="chosen"></span></p>
<p><button id="slow">Wait for it</button> <span id="waited"></span></p>
<p><a id="go" href="${PREFIX}actions-done?by=link">Onwards</a></p>
<p id="keys"></p>
<div style="height:3000px"></div>
<p id="bottom"></p>
<script>
const say = (id, text) => void (document.getElementById(id).textContent = text);
let count = 0;
document.getElementById('add').onclick = () => say('count', 'Count: ' + ++count);
const field = document.getElementById('name');
field.oninput = () => say('mirror', 'Hello, ' + field.value);
field.onkeydown = ({ key }) => { if (key === 'Enter') say('entered', 'Entered ' + field.value); };
document.getElementById('colour').onchange = ({ target }) => say('chosen', 'Chosen ' + target.value);
document.getElementById('slow').onclick = () => setTimeout(() => {
  const made = document.createElement('b');
  made.id = 'arrived';
  made.textContent = 'It was worth it';
  document.getElementById('waited').append(made);
}, 200);
document.onkeydown = ({ key }) => { if (key === 'F2') say('keys', 'Key F2'); };
new IntersectionObserver(([seen]) => { if (seen.isIntersecting) say('bottom', 'The bottom was seen'); })
  .observe(document.getElementById('bottom'));
window.secret = { answer: 42, of: ['everything', 'else'] };
</script>`,
    }),
  );

const donePage = (): Answer =>
  html(documentOf({ title: 'Done', body: `<p>This is where actions lead.</p>${link(`${PREFIX}actions`)}` }));

/** Bands of plain colour, so that a picture of it can be checked by its pixels. */
const tallPage = (): Answer => {
  const bands = Array.from(
    { length: BANDS },
    (_, band) =>
      `<div style="height:${BAND_PX}px;background:rgb(${band * 25},${250 - band * 25},120)">Band ${band + 1}</div>`,
  );
  return html(
    `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>A tall page</title>\n<style>body{margin:0;position:relative}#mark{position:absolute;top:900px;left:40px;width:${MARK_PX.width}px;height:${MARK_PX.height}px;background:rgb(200,0,0)}</style>\n</head>\n` +
      `<body>\n<p style="position:absolute">${paragraph(randomFrom(42), 200)}</p>\n${bands.join('\n')}\n<div id="mark"></div>\n</body>\n</html>\n`,
  );
};

const errorsPage = (): Answer =>
  html(
    documentOf({
      title: 'Errors in the console',
      body: `<p>${paragraph(randomFrom(43), 300)}</p>
<script>console.error('The first error', 1); console.warn('Only a warning'); console.log('Only words');</script>
<script>throw new Error('The second error');</script>
<script>Promise.reject(new Error('The third error'));</script>
<script src="${PREFIX}no-such-script.js"></script>`,
    }),
  );

export const ACT_PAGES: Readonly<Record<string, () => Answer>> = {
  actions: actionsPage,
  'actions-done': donePage,
  tall: tallPage,
  errors: errorsPage,
};
