type Fields = Readonly<Record<string, unknown>>;

/** Headers that tell no secret, as in docs/scrape-options.md. */
const HARMLESS =
  /^(?:accept(?:-.*)?|user-agent|referer|cache-control|pragma|content-(?:type|language|encoding)|dnt|range|if-modified-since|priority|save-data|upgrade-insecure-requests|sec-ch-.*|sec-fetch-.*)$/i;

export interface Shareable {
  readonly request: Fields;
  /** What was left out, in words. */
  readonly leftOut: readonly string[];
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A request without what may be secret, so that the address of the page can be handed on and stay in the history. */
export function shareable(body: Fields): Shareable {
  const request: Record<string, unknown> = { ...body };
  const leftOut: string[] = [];
  const drop = (name: string, words: string) => {
    if (request[name] === undefined) return;
    delete request[name];
    leftOut.push(words);
  };
  drop('cookies', 'cookies');
  drop('body', 'the request body');
  drop('webhook', 'the webhook');
  if (isFields(request.headers)) {
    const all = Object.entries(request.headers);
    const kept = all.filter(([name]) => HARMLESS.test(name));
    if (kept.length < all.length) leftOut.push('headers that may hold a key');
    if (kept.length === 0) delete request.headers;
    else request.headers = Object.fromEntries(kept);
  }
  if (isFields(request.proxy) && ('url' in request.proxy || 'urls' in request.proxy)) {
    const { url: _, urls: __, ...rest } = request.proxy;
    leftOut.push('your own proxy');
    if (Object.keys(rest).length === 0) delete request.proxy;
    else request.proxy = rest;
  }
  if (Array.isArray(request.actions) && request.actions.some(isTyping)) {
    leftOut.push('texts and files of actions');
    request.actions = request.actions.map((action) => {
      if (!isTyping(action)) return action;
      const { text: _, files: __, ...rest } = action;
      return rest;
    });
  }
  return { request, leftOut };
}

const isTyping = (action: unknown): action is Fields =>
  isFields(action) && (action.type === 'type' || action.type === 'upload');
