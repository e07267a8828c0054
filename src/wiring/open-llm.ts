import { llmRefusal } from '../capabilities/jobs/accept/request-refusal.ts';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { pageOptionsFor } from '../crawl/frontier/routes.ts';
import { createLlm, createMemoryCache, type Llm } from '../crawl/llm/llm.ts';
import { withLlm } from '../crawl/read/llm-reader.ts';
import type { PageReader } from '../crawl/read/page-reading.ts';
import { openExtractor } from './open-extractor.ts';

type LlmSettings = Pick<Settings, 'llmUrl' | 'llmKey' | 'llmModel' | 'llmMaxInputTokens'> &
  Partial<Pick<Settings, 'replay'>>;

/** Null when no language model is set up. Throws INVALID_SETTINGS. */
export function openLlm(settings: LlmSettings): Llm | null {
  const { llmUrl, llmKey, llmModel, llmMaxInputTokens, replay } = settings;
  // A replay asks no service.
  if (llmUrl === undefined || replay !== undefined) return null;
  if (llmModel === undefined) {
    throw new ScrapifieError('INVALID_SETTINGS', 'SCRAPIFIE_LLM_URL needs SCRAPIFIE_LLM_MODEL as well.');
  }
  return createLlm({
    baseUrl: llmUrl,
    apiKey: llmKey,
    model: llmModel,
    maxInputTokens: llmMaxInputTokens,
    cache: createMemoryCache(),
  });
}

/** The reader with the language model of the settings, where there is one; it is closed with the reader. */
export function readerWithLlm(reader: PageReader, settings: LlmSettings): PageReader {
  const llm = openLlm(settings);
  if (llm !== null) return withLlm(reader, llm);
  return {
    async read(request) {
      const refusal = llmRefusal(pageOptionsFor(request.job.options, request.task.url), settings);
      if (refusal !== null) throw refusal;
      return reader.read(request);
    },
    get ready() {
      return reader.ready;
    },
    get backlog() {
      return reader.backlog;
    },
    get isHolding() {
      return reader.isHolding;
    },
    close: () => reader.close(),
  };
}

/** Reads pages that are there already, in threads of its own: a page that costs its thread must not cost the crawl's. */
export const openReader = (
  settings: LlmSettings & Pick<Settings, 'extractThreads' | 'plugins'>,
): PageReader =>
  readerWithLlm(openExtractor(Math.max(1, settings.extractThreads), settings.plugins), settings);
