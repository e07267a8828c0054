import {
  type Answer,
  type Family,
  html,
  numberIn,
  pageIn,
  type SiteRequest,
  segmentsOf,
} from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { paragraph, titleOf } from '../prose.ts';
import { randomFrom } from '../random.ts';
import { ACT_PAGES } from './javascript/acts.ts';
import { answerCatalogue, catalogueData } from './javascript/catalogue.ts';
import { answerChallenge, CHALLENGE_FORMS } from './javascript/challenge.ts';
import { DOOR_DATA, DOOR_PAGES } from './javascript/doors.ts';
import { HARM_PAGES } from './javascript/harm.ts';
import { LIST_DATA, LIST_PAGES } from './javascript/lists.ts';
import { PREFIX } from './javascript/shell.ts';
import { spaData, spaPage } from './javascript/spa.ts';
import { answerFrame, WINDOW_PAGES } from './javascript/windows.ts';

/** Pages that need a browser, beside pages on the same host that need none. See SCRIPTED for what becomes of them. */
type Given = Answer | null | Promise<Answer | null>;
type Page = (request: SiteRequest) => Given;

const LAST_STATIC = 9_999;
const OFFERED =
  'list late later scroll xhr spa/ login token-login account cookie-wall actions tall errors windows static/1 static/2 catalogue/'.split(
    ' ',
  );

const PAGES: Readonly<Record<string, Page>> = {
  '': () =>
    html(documentOf({ title: 'Pages with scripts', body: linkList(OFFERED.map((name) => PREFIX + name)) })),
  ...LIST_PAGES,
  ...DOOR_PAGES,
  ...ACT_PAGES,
  ...WINDOW_PAGES,
  ...HARM_PAGES,
};

function staticPage(segment: string | undefined): Answer | null {
  const page = numberIn(segment, LAST_STATIC);
  if (page === null) return null;
  const next = [1, 2, 3].map((step) => `${PREFIX}static/${(page + step) % (LAST_STATIC + 1)}`);
  return html(
    documentOf({
      title: titleOf(page),
      body: `<p>No script is needed here.</p><p>${paragraph(randomFrom(page), 900)}</p>${linkList(next)}`,
    }),
  );
}

/** What scripts ask for. */
function dataFor(request: SiteRequest, [name = '', ...rest]: readonly string[]): Given {
  if (name === 'spa') return spaData(rest.join('/'));
  if (name === 'catalogue') return catalogueData(rest[0], request);
  return pageIn(LIST_DATA, name)?.(request, rest) ?? pageIn(DOOR_DATA, name)?.(request) ?? null;
}

export const javascript: Family = {
  prefix: PREFIX,
  about: 'pages that scripts make, and doors, challenges and traps for browsers',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second, ...rest] = segmentsOf(request, PREFIX);
    if (first === 'static') return staticPage(second);
    if (first === 'api') return dataFor(request, second === undefined ? rest : [second, ...rest]);
    if (first === 'spa') return spaPage();
    if (first === 'frame') return answerFrame(second);
    if (first === 'catalogue') return answerCatalogue(second ?? '', request);
    if (CHALLENGE_FORMS.includes(first)) return answerChallenge(first, second, request);
    if (second !== undefined && first !== 'members') return null;
    return pageIn(PAGES, first)?.(request) ?? null;
  },
};
