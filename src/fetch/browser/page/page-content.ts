import type { CDPSession, Page } from 'patchright-core';
import { ScrapifieError } from '../../../errors/scrapifie-error.ts';
import type { Evaluate } from './page-tools.ts';
import { type Body, ownBytes } from './paused-body.ts';

const TRIES = 3;

/** The document as it is now, in UTF-8. A page that is on its way elsewhere is read when it is there. */
export async function readDom(page: Page, evaluate: Evaluate, maxBytes: number): Promise<Body> {
  for (let tries = 1; ; tries += 1) {
    try {
      const html = await evaluate(serialize, maxBytes);
      const bytes = html === null ? null : new TextEncoder().encode(html);
      if (bytes !== null && bytes.length <= maxBytes) return bytes;
      throw new ScrapifieError('BODY_LIMIT_EXCEEDED', `The rendered page is larger than ${maxBytes} bytes`);
    } catch (error) {
      const isLeaving = error instanceof Error && /navigat|context was destroyed/i.test(error.message);
      if (!isLeaving || tries >= TRIES) throw error;
      await page.waitForLoadState('domcontentloaded');
    }
  }
}

/** Runs in the page, in a world of its own. */
function serialize(maxChars: number): string | null {
  const { document, XMLSerializer } = globalThis as unknown as PageGlobals;
  const doctype = document.doctype === null ? '' : new XMLSerializer().serializeToString(document.doctype);
  const html = document.documentElement?.outerHTML ?? '';
  return doctype.length + html.length > maxChars ? null : doctype + html;
}

/** A body as it arrived, decoded; null when Chromium has let go of it or it is larger than that. */
export async function readRaw(cdp: CDPSession, networkId: string, maxBytes: number): Promise<Body | null> {
  try {
    const { body, base64Encoded } = await cdp.send('Network.getResponseBody', { requestId: networkId });
    const bytes = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
    return bytes.length > maxBytes ? null : ownBytes(bytes);
  } catch {
    return null;
  }
}

interface PageGlobals {
  readonly document: {
    readonly doctype: object | null;
    readonly documentElement: { readonly outerHTML: string } | null;
  };
  readonly XMLSerializer: new () => { serializeToString(node: object): string };
}
