/** What `import … from 'scrapifie/plugin'` gives: enough to write a plug-in, and little to load in each thread. */

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
export { definePlugin, type Plugin } from './plugin.ts';
