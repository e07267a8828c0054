import { describe, expect, it } from 'vitest';
import { findLoginForm, loginActions } from './login-form.ts';

const PAGE = 'https://shop.example/account/login?next=%2Fcart';
const FORM = `<form action="/session" method="post" id="login">
  <input type="hidden" name="csrf" value="a&amp;b {{password}}">
  <input name="search" disabled value="x"><input name="email" type="email">
  <input type="checkbox" name="remember" checked><input type="checkbox" name="news">
  <select name="lang"><option value="en">English</option><option value="de" selected>Deutsch</option></select>
  <input type="password" name="secret"><button name="go" value="in">Log in</button><button name="other">Help</button></form>`;

describe('the log-in form of a page', () => {
  it('is sent as a browser sends it, with places for user name and password', () => {
    const form = findLoginForm(FORM, PAGE);
    expect(form?.action).toBe('https://shop.example/session');
    // What the page itself has in braces stays text: it cannot ask for the password in another field.
    expect(form?.body).toBe(
      'csrf=a%26b+%7B%7Bpassword%7D%7D&email={{username}}&remember=on&lang=de&secret={{password}}&go=in',
    );
  });

  it('is filled in by a browser in this order', () => {
    const form = findLoginForm(FORM, PAGE);
    expect(form && loginActions(form)).toEqual([
      { type: 'type', selector: 'input[name="email"]', text: '{{username}}' },
      { type: 'type', selector: 'input[name="secret"]', text: '{{password}}' },
      { type: 'click', selector: 'form:has(input[type=password]) button[name="go"]' },
      { type: 'wait', selector: 'body:not(:has(input[type=password]))' },
      { type: 'wait', until: 'load' },
    ]);
  });

  it('is told from a registration and from a change of the password', () => {
    const register =
      '<form action="/register" method=post><input name=mail><input type=password name=new></form>';
    const change = '<form method=post><input type=password name=old><input type=password name=new></form>';
    expect(findLoginForm(`${register}${change}${FORM}`, PAGE)?.action).toBe('https://shop.example/session');
    expect(findLoginForm(change, PAGE)).toBeNull();
    expect(findLoginForm('<form><input name=q></form>', PAGE)).toBeNull();
  });

  it('is left to a browser where plain HTTP cannot send it', () => {
    for (const html of [
      '<form><input name=user><input type=password name=secret></form>',
      '<form method=post><input id=user><input type=password id=secret></form>',
      '<form method=post enctype=multipart/form-data><input name=user><input type=password name=secret></form>',
      '<div><input id="user"><input type="password" id="secret"><button>Go</button></div>',
    ]) {
      const form = findLoginForm(html, PAGE);
      expect([form?.body, form?.selectors.username === null], html).toEqual([null, false]);
    }
  });

  it('of fields without a form is sent by their button', () => {
    const form = findLoginForm(
      '<input id=user><input type=password id=secret><button id=go>Go</button>',
      PAGE,
    );
    expect(form?.selectors).toEqual({
      username: 'input[id="user"]',
      password: 'input[id="secret"]',
      submit: 'button[id="go"]',
    });
  });

  it('is relative to the base of the page', () => {
    const html = `<base href="https://id.example/x/"><form method=post action=in><input type=password name=p></form>`;
    expect(findLoginForm(html, PAGE)).toMatchObject({
      action: 'https://id.example/x/in',
      body: 'p={{password}}',
    });
  });
});
