import { decodeText } from '../../extract/charset/charset.ts';
import { extractFull, type FullExtraction, type FullOptions } from '../../extract/full/extract-full.ts';
import { compileParts } from '../../extract/full/page-parts.ts';
import { contentKindOf } from '../../extract/html/media-type.ts';
import { compileExtractionRules } from '../../extract/rules/compile-rules.ts';
import { TYPES, type TypeSpecs } from '../../extract/types/extract-typed.ts';
import { defined } from '../../lib/defined.ts';
import type { ReadOptions, ReadRequest } from './page-reading.ts';
import { type DecodedBody, firstHeader, joinedHeader } from './read-page.ts';

/** The options of a job for full extraction, compiled once for each thread. `types`: those of plug-ins included. */
export function fullOptionsOf(
  { formats, extract, parts, maxPdfPages }: ReadOptions,
  types: TypeSpecs = TYPES,
): FullOptions {
  const { rules, schema, type, llm } = extract ?? { rules: null, schema: null, type: null, llm: false };
  // The rules were compiled when the job was accepted, so compiling them cannot fail.
  const compiled = rules === null ? null : compileExtractionRules(rules, schema === null ? {} : { schema });
  return {
    formats,
    type,
    types,
    rules: compiled?.rules ?? null,
    parts: parts === undefined ? null : compileParts(parts),
    hasLlm: llm !== false,
    ...defined({ maxPdfPages }),
  };
}

export function readFull(
  { response, fetchedAt }: ReadRequest,
  { text }: DecodedBody,
  options: FullOptions,
): Promise<FullExtraction> {
  const { body, contentType, finalUrl, headers } = response;
  return extractFull(
    {
      bytes: body,
      html: text,
      isHtml: text !== '' && contentKindOf(contentType, text) === 'html',
      url: finalUrl,
      contentType,
      contentLanguage: firstHeader(headers['content-language']),
      linkHeader: joinedHeader(headers.link, ', '),
      fetchedAt,
      decode: decodeText,
    },
    options,
  );
}
