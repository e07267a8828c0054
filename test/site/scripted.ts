import type { OutcomeKind } from '../../src/core/model/attempt.ts';
import type { RenderAction } from '../../src/core/model/render.ts';
import { LOGIN } from './pages/javascript/doors.ts';
import { SOCKET_GREETING } from './pages/javascript/windows.ts';

export interface ScriptedCase {
  readonly name: string;
  readonly path: string;
  readonly note: string;
  /** What plain HTTP gets to see. */
  readonly plain: OutcomeKind;
  /** On the page when it is as a visitor sees it; not in what the server sends unless `plain` is `ok`. */
  readonly shows: string;
  /** Without these it does not show. */
  readonly actions?: readonly RenderAction[];
  /** Hurts the browser that shows it. */
  readonly isHarmful?: true;
}

type More = Pick<ScriptedCase, 'actions' | 'isHarmful'>;

const scripted =
  (plain: OutcomeKind) =>
  (path: string, shows: string, note: string, more: More = {}): ScriptedCase => ({
    name: path.slice('/js/'.length),
    path,
    note,
    plain,
    shows,
    ...more,
  });
const whole = scripted('ok');
const shell = scripted('needs-javascript');
const challenge = scripted('blocked');
const loginWall = scripted('login-wall');

const SIGN_IN: readonly RenderAction[] = [
  { type: 'type', selector: '#user', text: LOGIN.user },
  { type: 'type', selector: '#password', text: LOGIN.password },
  { type: 'click', selector: '#enter' },
];

/** Every page under `/js/` that is more than it seems, and how to see all of it. */
export const SCRIPTED: readonly ScriptedCase[] = [
  // Nothing here needs a browser.
  whole('/js/static/1', 'No script is needed here.', 'an ordinary page beside the others'),
  whole('/js/static/2', 'No script is needed here.', 'another one'),
  whole('/js/login', 'Members come in here.', 'a form to log in, as any other'),
  whole('/js/errors', 'Errors in the console', 'its scripts fail, and its text is there all the same'),

  shell('/js/list', 'The list has 30 entries.', 'an empty page and a script that gets the list'),
  shell('/js/late', 'The data took its time.', 'the data takes 500 ms to come'),
  shell('/js/later', 'The list has 30 entries.', 'a timer of 500 ms runs before anything is asked for'),
  shell('/js/scroll', 'That was all of it.', 'more of the list comes when its end is in sight', {
    actions: Array.from({ length: 5 }, (_, batch): RenderAction[] => [
      { type: 'scroll', pixels: 10_000 },
      { type: 'wait', selector: `#item-${batch * 20 + 19}` },
    ]).flat(),
  }),
  shell('/js/spa/', 'Welcome to the application', 'an application; all its addresses send the same shell'),
  shell('/js/spa/about', 'About the application', 'another address of it'),
  shell('/js/spa/products/2', 'The second product', 'a deep address of it'),
  shell('/js/xhr', '30 items', 'GET, POST, an old XMLHttpRequest and one that finds nothing'),
  shell('/js/windows', SOCKET_GREETING, 'opens a window, frames of two hosts and a websocket'),
  shell('/js/catalogue/', 'Catalogue: ', 'the first of many pages that one script makes'),

  challenge('/js/challenge/1', 'Behind the challenge', 'a script solves it, keeps a cookie and asks again'),
  challenge('/js/challenge/2', 'Behind the challenge', 'the same cookie opens this'),
  challenge('/js/old-challenge/1', 'Behind the challenge', 'the same with the marks and status of old'),

  loginWall('/js/members', 'Members only', 'leads to the form; a cookie opens it', { actions: SIGN_IN }),
  whole('/js/token-login', 'The balance of anna', 'the script keeps a token in the local storage', {
    actions: [...SIGN_IN, { type: 'wait', selector: '#balance' }],
  }),
  whole('/js/cookie-wall', 'Behind the cookie wall', 'nothing to read before cookies are accepted', {
    actions: [{ type: 'click', selector: '#accept' }],
  }),

  whole('/js/never-loaded', 'A page that never finishes loading', 'a picture that never comes'),
  whole('/js/busy-loop', 'A page that never comes to rest', 'a script without an end', { isHarmful: true }),
  whole('/js/memory', 'A page that wants all memory', 'fifty megabytes more, fifty times a second', {
    isHarmful: true,
  }),
  whole('/js/crash', 'A page that ends its process', 'elements nested too deep to be laid out', {
    isHarmful: true,
  }),
];
