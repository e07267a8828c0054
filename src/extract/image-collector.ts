import type { PageImage } from '../model/page.ts';
import { ATTR } from './attribute.ts';
import type { BaseUrl } from './base-url.ts';
import { LIMITS } from './limits.ts';
import type { HtmlScanner } from './scanner.ts';
import { srcsetCandidates } from './srcset.ts';

/** Collects the images of a page, each address once. */
export class ImageCollector {
  isTruncated = false;
  readonly #found: { readonly src: string; readonly alt: string }[] = [];

  /** Reads an `img` or `source`: its own address, those of lazy loaders, and all candidates of its srcset. */
  read(scanner: HtmlScanner, alt: string): void {
    this.#add(scanner.attribute(ATTR.src), alt);
    this.#add(scanner.attribute(ATTR['data-src']), alt);
    this.#addSet(scanner.attribute(ATTR.srcset), alt);
    this.#addSet(scanner.attribute(ATTR['data-srcset']), alt);
  }

  resolve(base: BaseUrl): PageImage[] {
    const images = new Map<string, PageImage>();
    for (const { src, alt } of this.#found) {
      const url = base.resolve(src);
      if (url === null) continue;
      const known = images.get(url);
      if (known === undefined || (known.alt === '' && alt !== '')) images.set(url, { url, alt });
    }
    return [...images.values()];
  }

  #addSet(srcset: string | null, alt: string): void {
    if (srcset === null) return;
    for (const candidate of srcsetCandidates(srcset)) this.#add(candidate.url, alt);
  }

  #add(src: string | null, alt: string): void {
    if (src === null || src === '') return;
    if (this.#found.length < LIMITS.images) this.#found.push({ src, alt });
    else this.isTruncated = true;
  }
}
