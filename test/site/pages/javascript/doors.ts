import { type Answer, html, json, redirect, type SiteRequest } from '../../exchange.ts';
import { documentOf, link, linkList } from '../../layout.ts';
import { paragraph } from '../../prose.ts';
import { randomFrom } from '../../random.ts';
import { hasCookie, PREFIX, shellOf } from './shell.ts';

/** Pages behind something that a visitor has to do first: log in, or agree. */
export const LOGIN = { user: 'anna', password: 'harbour-7' };
const TOKEN = 'a-token-for-anna';

const FIELDS =
  '<p><label>Name <input name="user" id="user" autocomplete="username"></label></p>\n' +
  '<p><label>Password <input type="password" name="password" id="password" autocomplete="current-password"></label></p>\n' +
  '<p><button id="enter">Sign in</button></p>';

const loginPage = (note: string, status = 200): Answer =>
  html(
    documentOf({
      title: 'Sign in',
      body: `<p id="note">${note}</p>\n<form method="post" action="${PREFIX}login">\n${FIELDS}\n</form>`,
    }),
    status,
  );

async function login(request: SiteRequest): Promise<Answer> {
  if (request.method !== 'POST') return loginPage('Members come in here.');
  const form = new URLSearchParams((await request.readBody()).toString());
  if (form.get('user') !== LOGIN.user || form.get('password') !== LOGIN.password) {
    return loginPage('That was not right.', 401);
  }
  const cookie = `member=${LOGIN.user}; Path=/js; HttpOnly; SameSite=Lax`;
  return {
    ...redirect(`${PREFIX}members`, 303),
    headers: { location: `${PREFIX}members`, 'set-cookie': [cookie] },
  };
}

function members(request: SiteRequest): Answer {
  if (!hasCookie(request.headers.cookie, 'member', LOGIN.user)) {
    return redirect(`${PREFIX}login?next=${encodeURIComponent(request.path)}`);
  }
  const orders = [1, 2, 3].map((order) => `${PREFIX}members/orders/${order}`);
  const order = request.path.slice(`${PREFIX}members`.length);
  return html(
    documentOf({
      title: order === '' ? 'Members only' : `Members only: ${order.slice(1)}`,
      body: `<p>Good to see you, ${LOGIN.user}.</p><p>${paragraph(randomFrom(31), 400)}</p>${linkList(orders)}`,
    }),
  );
}

const scriptLogin = (): Answer =>
  html(
    documentOf({
      title: 'Sign in with a script',
      body: `<form id="form">\n${FIELDS}\n</form>\n<p id="note"></p>\n<script>
document.getElementById('form').onsubmit = async (event) => {
  event.preventDefault();
  const asked = JSON.stringify({ user: user.value, password: password.value });
  const answer = await fetch('${PREFIX}api/token', { method: 'POST', body: asked });
  if (!answer.ok) return void (note.textContent = 'That was not right.');
  localStorage.setItem('token', (await answer.json()).token);
  location.assign('${PREFIX}account');
};
</script>`,
    }),
  );

const account = (): Answer =>
  html(
    shellOf({
      title: 'Your account',
      script: `const token = localStorage.getItem('token');
if (token === null) location.replace('${PREFIX}token-login');
else load('${PREFIX}api/account', { headers: { authorization: 'Bearer ' + token } }).then(({ name, balance }) => {
  add('h1', document.title);
  add('p', 'The balance of ' + name + ' is ' + balance + '.').id = 'balance';
});`,
    }),
  );

/** Nothing but the question before; everything after. */
function wall(request: SiteRequest): Answer {
  if (hasCookie(request.headers.cookie, 'consent', 'yes')) {
    return html(
      documentOf({
        title: 'Behind the cookie wall',
        body: `<p id="content">${paragraph(randomFrom(32), 600)}</p>${link(`${PREFIX}static/1`)}`,
      }),
    );
  }
  return html(
    documentOf({
      title: 'Cookies',
      body: `<p>Before you read on: may this site keep a cookie, so that it knows that you were asked?</p>
<button id="accept">Accept</button>
<script>
document.getElementById('accept').onclick = () => {
  document.cookie = 'consent=yes; path=/js/';
  location.reload();
};
</script>`,
    }),
  );
}

export const DOOR_PAGES: Readonly<Record<string, (request: SiteRequest) => Answer | Promise<Answer>>> = {
  login,
  members,
  'token-login': scriptLogin,
  account,
  'cookie-wall': wall,
};

export const DOOR_DATA: Readonly<Record<string, (request: SiteRequest) => Answer | Promise<Answer>>> = {
  async token(request) {
    let asked: { readonly user?: unknown; readonly password?: unknown };
    try {
      asked = JSON.parse((await request.readBody()).toString());
    } catch {
      return json({ error: 'Not JSON.' }, 400);
    }
    const isRight = asked.user === LOGIN.user && asked.password === LOGIN.password;
    return isRight ? json({ token: TOKEN }) : json({ error: 'Wrong name or password.' }, 401);
  },
  account: (request) =>
    request.headers.authorization === `Bearer ${TOKEN}`
      ? json({ name: LOGIN.user, balance: '€ 1,234.50' })
      : json({ error: 'Who are you?' }, 401),
};
