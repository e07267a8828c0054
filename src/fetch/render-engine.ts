import type { RenderWish } from '../core/model/render.ts';
import type { FetchRequest, FetchResponse, Rendered } from './engine.ts';

/**
 * A request to render a page. What it leaves out costs nothing: no screenshot is taken and no answer of the page's
 * scripts is kept unless it is asked for.
 */
export interface BrowserRequest extends Omit<FetchRequest, 'render'>, RenderWish {
  /** For the part until `wait.until`; 30 s by default, and never more than `timeoutMs`. */
  readonly navigationTimeoutMs?: number | undefined;
  readonly userAgent?: string | undefined;
}

/** See Rendered: the same without a level between. */
export interface BrowserResponse extends Omit<FetchResponse, 'rendered'>, Rendered {}
