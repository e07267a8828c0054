import { parseEmail } from '../normalize/email.ts';
import { elementLines, elementText } from '../structured/element-text.ts';
import type { Evidence } from './evidence.ts';

const SOCIAL =
  /^https?:\/\/(?:[\w-]+\.)?(?:linkedin\.com\/(?:company|school|in)|twitter\.com|x\.com|facebook\.com|instagram\.com|youtube\.com|github\.com|xing\.com|tiktok\.com|mastodon\.\w+|bsky\.app\/profile)\/[^/?#]/i;
const SHARE = /\/(?:share|sharer|intent|shareArticle|dialog|hashtag)/i;
const PHONE_LABEL =
  /(?:tel(?:ephone|efon)?|phone|call(?: us)?|fon|t)\s*[.:]\s*(\+?[\d(][\d\s()./-]{6,20}\d)/i;
const MOST_LINKS = 50;

/** How a page says its maker can be reached; from all of it, because that often stands in the footer. */
export interface Contact {
  readonly email: string | null;
  readonly phone: string | null;
  readonly address: string | null;
  readonly profiles: readonly string[];
}

export function contactOf(evidence: Evidence): Contact {
  const { markup } = evidence;
  const links = markup.tagged('a', 0, true).map((node) => markup.attribute(node, 'href') ?? '');
  const email = links.find((href) => /^mailto:[^?]/i.test(href))?.replace(/^mailto:|\?.*$/gi, '') ?? null;
  const phone = links.find((href) => /^tel:/i.test(href))?.slice(4) ?? null;
  const profiles = links.filter((href) => SOCIAL.test(href) && !SHARE.test(href)).slice(0, MOST_LINKS);
  const [place] = markup.tagged('address', 0, true);
  const address = place === undefined ? null : addressText(evidence, place);
  const text = email !== null && phone !== null ? '' : contactText(evidence);
  return {
    email: email ?? parseEmail(text)?.value ?? null,
    phone: phone ?? PHONE_LABEL.exec(text)?.[1] ?? null,
    address,
    profiles: [...new Set(profiles)],
  };
}

/** The lines of an address without those that are telephone numbers or e-mail addresses. */
function addressText({ markup }: Evidence, node: number): string | null {
  const lines = elementLines(markup.tree, node, 300).filter(
    (line) => !/@|^(?:tel|phone|fon|fax|e-?mail)\b|^\+?[\d\s()/-]{7,}$/i.test(line),
  );
  const text = lines.join(', ').replace(/,{2,}/g, ',');
  return text === '' ? null : text;
}

function contactText({ markup }: Evidence): string {
  const footer = markup.tagged('footer', 0, true).at(-1);
  const named = markup.marked.find(({ mark }) =>
    /[\s_-](?:contact|kontakt|impressum|imprint)[\s_-]/.test(mark),
  )?.node;
  return [named, footer]
    .flatMap((node) => (node === undefined ? [] : [elementText(markup.tree, node, 3_000)]))
    .join(' ');
}
