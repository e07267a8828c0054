/** What `import … from 'scrapifie/plugin'` gives: enough to write a plug-in, and little to load in each thread. */

import type { TypeSpec } from '../../extract/types/draft.ts';
import type { EnginePlugin } from '../../fetch/plugin/plugin-engine.ts';
import type { Deliverer } from '../webhooks/deliverer.ts';

export { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
export type { PageDocument } from '../../extract/rules/page-document.ts';
export { type Draft, defineType as defineExtractor, type TypeSpec } from '../../extract/types/draft.ts';
export type { TypedEvidence } from '../../extract/types/evidence.ts';
export {
  type Field,
  type FieldKind,
  type FieldSource,
  type Fields,
  field,
} from '../../extract/types/field.ts';
export type { FetchRequest, FetchResponse } from '../../fetch/engine.ts';
export type {
  EngineAnswer,
  EngineContext,
  EnginePlugin,
  PluginEngine,
} from '../../fetch/plugin/plugin-engine.ts';
export type { Deliverer, OutgoingMessage } from '../webhooks/deliverer.ts';

/**
 * Code of the operator's that adds to Scrapifie without touching it. A module has one as its default export. The names of
 * its parts have that of the plug-in in front, such as `wine:bottle`.
 *
 * A plug-in is trusted like Scrapifie itself: it runs in its processes, with their files, settings and network.
 */
export interface Plugin {
  /** Lower-case letters, digits and dashes. */
  readonly name: string;
  /**
   * Types that pages are read as, beside those of docs/types.md. They run in the threads that read pages: each thread loads
   * the module for itself, so that variables of the module are not shared. Reading is synchronous and fetches nothing.
   */
  readonly extractors?: readonly TypeSpec[];
  /** Channels that webhooks may use, beside JSON, chats and e-mail. They run in the process that sends webhooks. */
  readonly deliverers?: readonly Deliverer[];
  /** Ways to fetch pages, beside those of docs/browsers.md. They run in the process that owns the host. */
  readonly engines?: readonly EnginePlugin[];
}

/** Checks the types of a plug-in while it is written; the names are checked when it is loaded. */
export const definePlugin = (plugin: Plugin): Plugin => plugin;
