import type { FastifyReply } from 'fastify';
import { PROOF_PATH, proofRecord, proofText } from '../../capabilities/owners/domain-proof.ts';
import type { OwnerRequest } from '../../core/ports/site-owner-store.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { App } from '../server/app.ts';
import { isOurs, sendFailure, toScrapifieError } from '../server/failures.ts';

/** The person or organisation behind this installation, as the settings say. */
interface Operator {
  readonly contact: string | null;
  readonly purpose: string | null;
  readonly userAgent: string;
  readonly productToken: string;
}

/** The style of the pages, served as a file: the content security policy allows no style within a page. */
export const BOT_STYLE = `:root{color-scheme:light dark;--line:#8884}
body{font:16px/1.6 system-ui,sans-serif;max-width:44rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .5rem}h2{font-size:1.15rem;margin:2.2rem 0 .4rem}
code,pre{font:14px/1.5 ui-monospace,monospace;background:#8881;border-radius:4px}code{padding:.1em .35em}
pre{padding:.75rem 1rem;overflow-x:auto}form{border:1px solid var(--line);border-radius:8px;padding:1rem 1.25rem}
label{display:block;margin:.8rem 0 .2rem;font-weight:600}input,select,textarea,button{font:inherit}
input,select,textarea{width:100%;box-sizing:border-box;padding:.45rem .6rem;border:1px solid var(--line);border-radius:6px}
button{margin-top:1rem;padding:.5rem 1.1rem;border-radius:6px;border:1px solid #2563eb;background:#2563eb;color:#fff;cursor:pointer}
.note{border-left:3px solid #2563eb;padding:.1rem 0 .1rem 1rem}.bad{border-color:#dc2626}.good{border-color:#16a34a}`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/bot/style.css">
</head>
<body>
${body}
</body>
</html>
`;
}

/** The page that the user agent of the crawler leads to. */
export function botPage(operator: Operator): string {
  const { contact, purpose, userAgent, productToken } = operator;
  const isWeb = contact !== null && /^https?:\/\//i.test(contact);
  const isMail = contact !== null && /^[^\s@<>"]+@[^\s@<>"]+$/.test(contact);
  const href = isWeb ? contact : isMail ? `mailto:${contact}` : null;
  const reach =
    contact === null
      ? '<p>The operator has published no contact address. The form below works all the same.</p>'
      : `<p>Contact: ${href === null ? escapeHtml(contact) : `<a href="${escapeHtml(href)}" rel="nofollow">${escapeHtml(contact)}</a>`}</p>`;
  return page(
    'About this crawler',
    `<h1>About this crawler</h1>
<p>Requests with the user agent <code>${escapeHtml(userAgent)}</code> come from an installation of Scrapifie, a self-hosted
web scraping platform.</p>
<h2>Who crawls, and why</h2>
<p>${purpose === null ? 'The operator has not stated a purpose.' : escapeHtml(purpose)}</p>
${reach}
<h2>How it behaves</h2>
<ul>
<li>It obeys <code>robots.txt</code> (RFC 9309), <code>Crawl-delay</code> and <code>Retry-After</code>.</li>
<li>Unless its operator has agreed otherwise with a site, it sends at most two requests a second to a host.</li>
<li>It slows down when a site answers with 429 or 503.</li>
</ul>
<h2>How to stop it yourself</h2>
<p>Put this into the <code>robots.txt</code> of your site; it takes effect within a day:</p>
<pre>User-agent: ${escapeHtml(productToken)}
Disallow: /</pre>
<p><code>Crawl-delay: 10</code> in the same group asks for ten seconds between two requests.</p>
<h2>Ask us to stop, or to slow down</h2>
<p>A request made here takes effect at once, for all users of this installation, as soon as you have shown that the
site is yours.</p>
<form method="post" action="/bot">
<label for="host">Host name of your site</label>
<input id="host" name="host" required maxlength="253" placeholder="www.example.com" autocomplete="off">
<label for="want">What should change?</label>
<select id="want" name="want"><option value="stop">Do not crawl it at all</option><option value="slower">Crawl it more slowly</option></select>
<label for="seconds">Seconds between two requests (when crawled more slowly)</label>
<input id="seconds" name="secondsBetweenRequests" type="number" min="1" max="3600" value="10">
<label for="contact">How we can reach you (optional)</label>
<input id="contact" name="contact" maxlength="320" autocomplete="email">
<label for="message">Message to the operator (optional)</label>
<textarea id="message" name="message" maxlength="2000" rows="3"></textarea>
<button type="submit">Continue</button>
</form>`,
  );
}

/** The state of one request: what has to be published, or that it is in force. */
export function requestPage(request: OwnerRequest, seen: readonly string[] | null): string {
  const { host, demand, proved } = request;
  const wish =
    demand.kind === 'stop'
      ? `Stop crawling ${host}`
      : `Leave ${demand.secondsBetweenRequests} seconds between two requests to ${host}`;
  if (proved !== null) {
    return page(
      'Request in force',
      `<h1>Your request is in force</h1>
<p class="note good">${escapeHtml(wish)}: since ${new Date(proved.at).toISOString()}, for all users of this installation.</p>
<p>You can remove the file or the record now. To take the request back, write to the operator.</p>
<p><a href="/bot">About this crawler</a></p>`,
    );
  }
  const record = proofRecord(host);
  const byRecord =
    record === null
      ? ''
      : `<h2>Or by a DNS record</h2>
<p>Add a TXT record with the name <code>${escapeHtml(record)}</code> and this text:</p>
<pre>${escapeHtml(proofText(request.token))}</pre>`;
  const outcome =
    seen === null
      ? ''
      : `<div class="note bad"><p>The proof was not found yet:</p><ul>${seen.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul></div>`;
  return page(
    'Show that the site is yours',
    `<h1>Show that ${escapeHtml(host)} is yours</h1>
<p>${escapeHtml(wish)}: your request waits for its proof until ${new Date(request.expiresAt).toISOString()}. Keep the address
of this page; it is the only way back here.</p>
${outcome}
<h2>By a file</h2>
<p>Publish a text file at <code>https://${escapeHtml(host)}${PROOF_PATH}</code> with this line:</p>
<pre>${escapeHtml(proofText(request.token))}</pre>
${byRecord}
<form method="post" action="/bot/requests/${urlPart(request.id)}/check"><button type="submit">Check now</button></form>
<p><a href="/bot">About this crawler</a></p>`,
  );
}

/** A request that was refused, in words. */
function refusalPage(message: string): string {
  return page(
    'Request refused',
    `<h1>That did not work</h1><p class="note bad">${escapeHtml(message)}</p><p><a href="/bot">Back</a></p>`,
  );
}

/** Asks the owner of an e-mail address whether it may get notifications. */
export const confirmMailPage = (): string =>
  page(
    'Confirm your address',
    `<h1>Do you want these notifications?</h1>
<p>A user of this installation wants to have notifications about its jobs sent to your address. If you do not, close this
page: nothing more is sent.</p>
<form method="post"><button type="submit">Send them to me</button></form>`,
  );

export const mailConfirmedPage = (): string =>
  page(
    'Address confirmed',
    '<h1>Your address is confirmed</h1><p class="note good">You get notifications from now on.</p>',
  );

/** Sends a page that no cache keeps. */
export const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(html);

/** People get the reason of a refusal as a page, with the status that programs get, also when it comes before the body is read. */
export function refuseWithPages(app: App): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toScrapifieError(thrown);
    if (isOurs(error) || error.code === 'INTERNAL') return sendFailure(error, request, reply);
    request.failure = error;
    const [problem] = (error.details ?? []) as { field?: string; message?: string }[];
    const message = problem?.message === undefined ? error.message : `${problem.field}: ${problem.message}`;
    if (error.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(error.retryAfterMs / 1_000));
    return sendPage(reply.code(error.spec.httpStatus), refusalPage(message));
  });
}
