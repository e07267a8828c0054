import { expect, it } from 'vitest';
import { logsOut } from './traps.ts';

it.each([
  'https://a.example/logout',
  'https://a.example/users/sign_out',
  'https://a.example/account/log-off.aspx',
  'https://a.example/wp-login.php?action=logout&_wpnonce=1',
  'https://a.example/index.php?logout=1',
  'https://a.example/ucp.php?mode=logout',
  'https://a.example/session/destroy',
  'https://a.example/customer/account/logout/',
  'https://a.example/de/abmelden',
  'https://a.example/user-logout',
])('takes %s for a link that logs out', (url) => {
  expect(logsOut(url)).toBe(true);
});

it.each(['Log out', ' Sign out » ', 'LOGOUT', 'Abmelden', 'Se déconnecter', 'Cerrar sesión', 'ログアウト'])(
  'takes the text %j for one that logs out',
  (text) => {
    expect(logsOut('https://a.example/x?id=7', text)).toBe(true);
  },
);

it.each([
  ['https://a.example/login', 'Log in'],
  ['https://a.example/blog/how-to-log-out-of-all-devices', 'How to log out of all devices'],
  ['https://a.example/signoffs', 'Sign-offs of the quarter'],
  ['https://a.example/blog/what-is-a-logout-page', 'Read more'],
  ['https://a.example/catalogue/outdoor', 'Outdoor'],
  ['https://a.example/?q=log', ''],
])('leaves %s alone', (url, text) => {
  expect(logsOut(url, text)).toBe(false);
});
