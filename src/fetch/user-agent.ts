/** The product token: what robots.txt groups are matched against. */
export const PRODUCT_TOKEN = 'ScrapifieBot';

/**
 * How the crawler names itself: who it is and, where the operator gave one, where to reach them. Characters that
 * a header or a comment in it may not have are left out of the contact.
 */
export function userAgentFor(version: string, contact: string | null): string {
  const reachable = contact?.replace(/[^\x21-\x7e]|[()\\]/g, '') ?? '';
  return reachable === '' ? `${PRODUCT_TOKEN}/${version}` : `${PRODUCT_TOKEN}/${version} (+${reachable})`;
}

/** Where a site owner learns more: the page of this installation for site owners, and the operator's contact address. */
export function siteOwnerContact(settings: {
  readonly contact?: string | undefined;
  readonly publicUrl?: string | undefined;
}): string | null {
  const page = settings.publicUrl === undefined ? [] : [`${settings.publicUrl.replace(/\/+$/, '')}/bot`];
  const places = [...page, ...(settings.contact === undefined ? [] : [settings.contact])];
  return places.length === 0 ? null : places.join(';');
}
