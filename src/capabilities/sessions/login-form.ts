import type { RenderAction } from '../../core/model/render.ts';
import { buildTree } from '../../extract/tree/tree-builder.ts';
import { urlPart } from '../../lib/url-part.ts';

/** A form with one password field: where it is sent, and how its fields are found on the page. */
export interface LoginForm {
  readonly action: string;
  /** The body of the form, with `{{username}}` and `{{password}}` in it; null when it cannot be sent without a browser. */
  readonly body: string | null;
  /** CSS selectors, for a browser. */
  readonly selectors: {
    readonly username: string | null;
    readonly password: string;
    readonly submit: string | null;
  };
}

/** Pages beyond are cut: the form stands near the beginning, and this runs on the main thread. */
const MOST_CHARS = 1_000_000;
const TYPED = new Set(['text', 'email', 'tel', '']);
const UNSENT = new Set(['submit', 'image', 'button', 'reset', 'file']);
const USER_WORDS = /user|login|log_?in|e-?mail|account|ident|name|benutzer|konto/i;
const LOGIN_WORDS = /log-?in|sign-?in|log_in|sign_in|session|auth|anmeld|connexion/i;
/** The method of fields that are in no form. */
const SCRIPTED = 'script';
const USERNAME = '{{username}}';
const PASSWORD = '{{password}}';

interface Control {
  readonly element: string;
  readonly type: string;
  readonly name: string | null;
  readonly id: string | null;
  /** What is sent of it; null: nothing. */
  readonly value: string | null;
  readonly autocomplete: string;
}

interface Form {
  readonly action: string | null;
  readonly method: string;
  readonly enctype: string;
  /** Identifier, class and address: words that tell a log-in from a registration. */
  readonly words: string;
  readonly controls: Control[];
}

/** The form of the page that logs in; null when there is none. */
export function findLoginForm(html: string, pageUrl: string): LoginForm | null {
  const forms = readForms(html.slice(0, MOST_CHARS), pageUrl);
  const logIns = forms.forms.filter(({ controls }) => passwordsOf(controls).length === 1);
  const [best] = logIns.sort((one, other) => scoreOf(other) - scoreOf(one));
  return best === undefined ? null : describe(best, forms.baseUrl);
}

/** Steps that fill in the form and send it in a browser. */
export function loginActions({ selectors }: LoginForm): readonly RenderAction[] {
  const { username, password, submit } = selectors;
  return [
    ...(username === null ? [] : [{ type: 'type', selector: username, text: USERNAME } as const]),
    { type: 'type', selector: password, text: PASSWORD },
    submit === null
      ? { type: 'press', key: 'Enter', selector: password }
      : { type: 'click', selector: submit },
    // Whether scripts change the page or lead to another one: the form is gone.
    { type: 'wait', selector: 'body:not(:has(input[type=password]))' },
    { type: 'wait', until: 'load' },
  ];
}

function readForms(html: string, pageUrl: string): { forms: Form[]; baseUrl: string } {
  const tree = buildTree(html);
  const forms: Form[] = [];
  /** Fields outside of any form, which scripts send. */
  const loose: Form = { action: null, method: SCRIPTED, enctype: '', words: '', controls: [] };
  let baseUrl = pageUrl;
  let open: { readonly form: Form; readonly end: number } | null = null;
  for (let node = 1; node < tree.count; node += 1) {
    if (tree.isText(node)) continue;
    if (open !== null && node >= open.end) open = null;
    const name = tree.name(node);
    const attributes = tree.attributes(node);
    if (name === 'base') baseUrl = URL.parse(attributes.get('href') ?? '', pageUrl)?.href ?? baseUrl;
    else if (name === 'form') {
      const action = attributes.get('action') ?? null;
      const form: Form = {
        action,
        method: (attributes.get('method') ?? 'get').toLowerCase(),
        enctype: (attributes.get('enctype') ?? '').toLowerCase(),
        words: [action, attributes.get('id'), attributes.get('class'), attributes.get('name')].join(' '),
        controls: [],
      };
      forms.push(form);
      open = { form, end: tree.ends[node] as number };
    } else if (name === 'input' || name === 'button' || name === 'select' || name === 'textarea') {
      if (attributes.has('disabled')) continue;
      const text = name === 'textarea' ? tree.textOf(node, MOST_CHARS) : null;
      const chosen = name === 'select' ? chosenOption(tree, node) : null;
      (open?.form ?? loose).controls.push(controlOf(name, attributes, text ?? chosen));
    }
  }
  return { forms: [...forms, loose], baseUrl };
}

function chosenOption(tree: ReturnType<typeof buildTree>, select: number): string | null {
  let first: string | null = null;
  for (let node = select + 1; node < (tree.ends[select] as number); node += 1) {
    if (tree.isText(node) || tree.name(node) !== 'option') continue;
    const attributes = tree.attributes(node);
    const value = attributes.get('value') ?? tree.textOf(node, MOST_CHARS).trim();
    if (attributes.has('selected')) return value;
    first ??= value;
  }
  return first;
}

function controlOf(element: string, attributes: ReadonlyMap<string, string>, text: string | null): Control {
  const fallback = element === 'button' ? 'submit' : element === 'input' ? 'text' : element;
  const type = (attributes.get('type') ?? fallback).toLowerCase();
  const isTicked = type !== 'checkbox' && type !== 'radio' ? true : attributes.has('checked');
  const value = text ?? attributes.get('value') ?? (type === 'checkbox' || type === 'radio' ? 'on' : '');
  return {
    element,
    type,
    name: attributes.get('name') || null,
    id: attributes.get('id') || null,
    value: isTicked ? value : null,
    autocomplete: (attributes.get('autocomplete') ?? '').toLowerCase(),
  };
}

const passwordsOf = (controls: readonly Control[]) => controls.filter(({ type }) => type === 'password');

/** A form for new accounts may have one password field, too. */
function scoreOf({ controls, words, action }: Form): number {
  const [password] = passwordsOf(controls);
  let score = action === null ? 0 : 1;
  if (password?.autocomplete === 'current-password') score += 4;
  if (password?.autocomplete === 'new-password') score -= 4;
  if (LOGIN_WORDS.test(words)) score += 2;
  if (/regist|sign-?up|create|join|subscribe|newsletter/i.test(words)) score -= 2;
  return score;
}

function userFieldOf(controls: readonly Control[], password: Control): Control | null {
  const typed = controls.filter(({ element, type }) => element === 'input' && TYPED.has(type));
  const before = typed.filter((control) => controls.indexOf(control) < controls.indexOf(password));
  return (
    typed.find(({ autocomplete }) => /\b(?:username|email)\b/.test(autocomplete)) ??
    before.findLast(({ name, id }) => USER_WORDS.test(`${name} ${id}`)) ??
    before.at(-1) ??
    null
  );
}

function describe({ controls, action, method, enctype }: Form, baseUrl: string): LoginForm | null {
  const [password] = passwordsOf(controls);
  if (password === undefined) return null;
  const username = userFieldOf(controls, password);
  const submit = controls.find(({ type }) => type === 'submit' || type === 'image') ?? null;
  const target = URL.parse(action ?? '', baseUrl);
  const isSendable =
    target !== null &&
    /^https?:$/.test(target.protocol) &&
    method === 'post' &&
    (enctype === '' || enctype === 'application/x-www-form-urlencoded') &&
    password.name !== null &&
    (username === null || username.name !== null);
  return {
    action: target?.href ?? baseUrl,
    body: isSendable ? bodyOf(controls, username, password, submit) : null,
    selectors: {
      username: username === null ? null : selectorOf(username),
      password: selectorOf(password),
      submit: submit === null ? null : submitSelector(submit, method !== SCRIPTED),
    },
  };
}

/** As browsers write it: fields in the order of the page, and of the buttons the one that was pressed. */
function bodyOf(
  controls: readonly Control[],
  username: Control | null,
  password: Control,
  submit: Control | null,
): string {
  const pairs = controls.flatMap((control) => {
    const { name, type, value } = control;
    if (name === null) return [];
    // Braces in a value of the page are escaped, so that a page cannot have the password put elsewhere.
    if (control === username) return [`${encoded(name)}=${USERNAME}`];
    if (control === password) return [`${encoded(name)}=${PASSWORD}`];
    if (value === null || (UNSENT.has(type) && control !== submit)) return [];
    return [`${encoded(name)}=${encoded(value)}`];
  });
  return pairs.join('&');
}

const encoded = (text: string) => urlPart(text).replaceAll('%20', '+');

function selectorOf({ element, type, name, id }: Control): string {
  if (id !== null) return `${element}[id=${quoted(id)}]`;
  if (name !== null) return `${element}[name=${quoted(name)}]`;
  return type === 'password' ? 'input[type=password]' : `${element}[type=${quoted(type)}]`;
}

/**
 * Returns a selector for the button of the form with the password field: other forms of the page have buttons as
 * well.
 */
function submitSelector(submit: Control, isInForm: boolean): string {
  const own =
    submit.id !== null || submit.name !== null
      ? selectorOf(submit)
      : submit.element === 'button'
        ? 'button:not([type=button]):not([type=reset])'
        : `input[type=${quoted(submit.type)}]`;
  return isInForm ? `form:has(input[type=password]) ${own}` : own;
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
