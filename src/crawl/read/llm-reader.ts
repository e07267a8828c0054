import type { ExtractProblem, Unanswered, ValueOrigin } from '../../core/model/extraction.ts';
import type { PageRecord } from '../../core/model/page.ts';
import { packRecord, unpackRecord } from '../../core/model/page-record.ts';
import { defined } from '../../lib/defined.ts';
import { pageOptionsFor } from '../frontier/routes.ts';
import type { Llm } from '../llm/llm.ts';
import type { PageReader, PageReading, ReadRequest } from './page-reading.ts';

/** Less than for values of the page itself; more where the model quotes the page. */
const CONFIDENCE = { quoted: 0.7, said: 0.5 } as const;

/** A reader that asks a language model for required fields that the rules left empty, when the request wants that. */
export function withLlm(reader: PageReader, llm: Llm): PageReader {
  const closing = new AbortController();
  return {
    async read(request) {
      const reading = await reader.read(request);
      return reading.unanswered === undefined ? reading : fill(reading, request, llm, closing.signal);
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
    async close() {
      closing.abort();
      await Promise.all([reader.close(), llm.close()]);
    },
  };
}

type Fields = Parameters<Llm['fillMissing']>[0]['fields'];

/** The missing fields: as the JSON Schema of the request describes them, else by the types of the rules. */
function fieldsOf({ properties }: Unanswered, schema: unknown): Fields {
  const given = (schema ?? {}) as Partial<Fields>;
  const names = Object.keys(properties);
  return {
    properties: Object.fromEntries(
      names.map((name) => [name, given.properties?.[name] ?? properties[name] ?? {}]),
    ),
    ...defined({ $defs: given.$defs }),
  };
}

async function fill(
  reading: PageReading,
  { job, task }: ReadRequest,
  llm: Llm,
  signal: AbortSignal,
): Promise<PageReading> {
  const { unanswered, page } = reading;
  if (unanswered === undefined || page.record === null) return reading;
  const { llm: llmOptions, schema } = pageOptionsFor(job.options, task.url).extract ?? {};
  const derived = typeof llmOptions === 'object' ? llmOptions.derived : undefined;
  const { text } = unanswered;
  const { values, evidence, problems, usage, isCached, model } = await llm.fillMissing(
    { fields: fieldsOf(unanswered, schema), text, url: page.finalUrl, derived },
    signal,
  );
  const record = JSON.parse(unpackRecord(page.record).toString('utf8')) as PageRecord;
  const by = Object.fromEntries(
    Object.keys(values).map((name): [string, ValueOrigin] => [
      name,
      { source: `llm:${llm.model}`, confidence: name in evidence ? CONFIDENCE.quoted : CONFIDENCE.said },
    ]),
  );
  const left: ExtractProblem[] = [
    ...(record.extractProblems ?? []).filter(({ path }) => !(path in values)),
    ...problems.map(({ field, message }) => ({ path: field ?? 'llm', message })),
  ];
  const { extractProblems: _, ...rest } = record;
  const filled: PageRecord = {
    ...rest,
    extracted: { ...record.extracted, ...values },
    extractedBy: { ...record.extractedBy, ...by },
    ...(left.length === 0 ? {} : { extractProblems: left }),
    llm: { model, ...usage, isCached },
  };
  const tokens = isCached ? {} : { tokens: Math.ceil(usage.promptTokens + usage.completionTokens) };
  return { ...reading, ...tokens, page: { ...page, record: packRecord(filled) } };
}
