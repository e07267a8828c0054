import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFor, type RenderAction } from '../../core/model/render.ts';
import { type Credential, credentialHeaders, credentialInputSchema, fillIn } from './credential.ts';

const hosts = ['shop.example', '*.shop.example', '127.0.0.1:8080'];
const LOGIN: Credential = { kind: 'login', hosts, username: 'ann', password: 'pa$$&-word' };

describe('a credential', () => {
  it.each([
    ['https://shop.example/login', true],
    ['http://shop.example/', false],
    ['https://SHOP.example./', true],
    ['https://a.b.shop.example/', true],
    ['http://127.0.0.1:8080/x', true],
    ['https://shop.example:8443/', false],
    ['http://127.0.0.1/', false],
    ['https://notshop.example/', false],
    ['https://shop.example.evil.example/', false],
    ['https://evil.example/?shop.example', false],
    ['https://shop.example@evil.example/', false],
    ['no url', false],
  ])('for its hosts is sent to %s: %s', (url, expected) => {
    expect(isFor({ hosts }, url)).toBe(expected);
  });

  it('is sent by http where that was asked for, and to this machine', () => {
    expect(isFor({ hosts, allowHttp: true }, 'http://shop.example/')).toBe(true);
    expect(isFor({ hosts: ['localhost'] }, 'http://localhost/')).toBe(true);
    expect(isFor({ hosts, allowHttp: true }, 'ftp://shop.example/')).toBe(false);
  });

  it('is sent to no host that it does not name', () => {
    const all: Credential[] = [
      { kind: 'basic', hosts, username: 'ann', password: 'x' },
      { kind: 'bearer', hosts, token: 't' },
      { kind: 'headers', hosts, headers: { 'x-key': 'k' } },
      { kind: 'cookies', hosts, cookies: { sid: '1' } },
    ];
    fc.assert(
      fc.property(fc.webUrl(), fc.constantFrom(...all), (url, credential) => {
        fc.pre(!isFor(credential, url));
        expect(credentialHeaders(credential, url)).toEqual({ headers: {}, cookies: {} });
      }),
    );
  });

  it('becomes what its kind says', () => {
    const sent = (credential: Credential | null) => credentialHeaders(credential, 'https://shop.example/');
    expect(sent({ kind: 'basic', hosts, username: 'ann', password: 'gehéim:x' }).headers).toEqual({
      authorization: `Basic ${Buffer.from('ann:gehéim:x').toString('base64')}`,
    });
    expect(sent({ kind: 'bearer', hosts, token: 'abc' }).headers).toEqual({ authorization: 'Bearer abc' });
    expect(sent({ kind: 'headers', hosts, headers: { 'X-Key': 'k' } }).headers).toEqual({ 'X-Key': 'k' });
    expect(sent({ kind: 'cookies', hosts, cookies: { sid: '1' } }).cookies).toEqual({ sid: '1' });
    expect(sent(LOGIN)).toEqual({ headers: {}, cookies: {} });
    expect(sent(null)).toEqual({ headers: {}, cookies: {} });
  });

  it.each([
    [{ kind: 'login', hosts: [], username: 'a', password: 'b' }, 'hosts'],
    [{ kind: 'login', hosts: ['*.com'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['*.github.io'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['https://a.example'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['a.example/x'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['not_a_host!'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['-a.example'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['a..example'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts: ['*'], username: 'a', password: 'b' }, 'hosts.0'],
    [{ kind: 'login', hosts, username: '', password: 'b' }, 'username'],
    [{ kind: 'basic', hosts, username: 'a:b', password: 'b' }, 'username'],
    [{ kind: 'bearer', hosts, token: 'a b' }, 'token'],
    [{ kind: 'bearer', hosts, token: 'a\r\nx: y' }, 'token'],
    [{ kind: 'headers', hosts, headers: {} }, 'headers'],
    [{ kind: 'headers', hosts, headers: { host: 'x' } }, 'headers.host'],
    [{ kind: 'headers', hosts, headers: { Cookie: 'x' } }, 'headers.Cookie'],
    [{ kind: 'headers', hosts, headers: { 'x-a': 'b\nc: d' } }, 'headers.x-a'],
    [{ kind: 'cookies', hosts, cookies: { a: 'b; c' } }, 'cookies.a'],
    [{ kind: 'cookies', hosts, cookies: { a: 'b' }, more: 1 }, ''],
    [{ kind: 'token', hosts }, 'kind'],
  ])('that is wrong (%j) is refused at %s', (given, field) => {
    const { error } = credentialInputSchema.safeParse(given);
    expect(error?.issues.map(({ path }) => path.join('.'))).toContain(field);
  });

  it('names its hosts in one way', () => {
    const { hosts: named } = credentialInputSchema.parse({
      ...LOGIN,
      hosts: [' Shop.Example ', '*.A.example'],
    });
    expect(named).toEqual(['shop.example', '*.a.example']);
  });
});

describe('filling in', () => {
  const type = (text: string): RenderAction => ({ type: 'type', selector: '#x', text });
  const URL_THERE = 'https://shop.example/login';
  /** The hosts are kept, so that the frame of the field can be looked at. */
  const filled = (text: string, isPassword: boolean): RenderAction => ({
    ...type(text),
    ...{ fill: { hosts, allowHttp: undefined, isPassword } },
  });

  it('puts user name and password where they are asked for, and nowhere else', () => {
    const actions: RenderAction[] = [
      type('{{username}}'),
      type('{{ credentials.password }}!'),
      type('{{credentials.username}}/{{password}}'),
      type('{{token}} {username}'),
      { type: 'evaluate', script: '"{{password}}"' },
    ];
    expect(fillIn(actions, LOGIN, URL_THERE)).toEqual([
      filled('ann', false),
      filled('pa$$&-word!', true),
      filled('ann/pa$$&-word', true),
      type('{{token}} {username}'),
      { type: 'evaluate', script: '"{{password}}"' },
    ]);
    expect(actions[0]).toEqual(type('{{username}}'));
  });

  it('takes every password literally', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (password) => {
        const [action] = fillIn([type('{{password}}')], { ...LOGIN, password }, URL_THERE);
        expect(action).toEqual(filled(password, true));
      }),
    );
  });

  it.each([
    [null, URL_THERE, /no credentials/],
    [{ kind: 'bearer', hosts, token: 'very-secret' } as Credential, URL_THERE, /"bearer"/],
    [LOGIN, 'https://evil.example/', /not for evil\.example/],
    [LOGIN, 'http://shop.example/login', /by https only/],
  ])('refuses what it cannot do, names the step and tells no secret', (credential, url, message) => {
    const actions = [type('hello'), type('{{password}}')];
    expect(() => fillIn(actions, credential, url)).toThrow(message);
    try {
      fillIn(actions, credential, url);
    } catch (error) {
      expect(error).toMatchObject({ code: 'UNSUPPORTED_OPTION', details: { step: 'actions.1' } });
      expect(JSON.stringify(error) + String(error)).not.toMatch(/pa\$\$|very-secret/);
    }
    expect(fillIn([type('hello')], credential, url)).toEqual([type('hello')]);
  });
});
