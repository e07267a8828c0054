import { expect, it, onTestFinished } from 'vitest';
import type { PageRecord } from '../../src/core/model/page.ts';
import { unpackRecord } from '../../src/core/model/page-record.ts';
import { requestFor } from '../../src/crawl/read/read-request.fixture.ts';
import { openExtractor } from '../../src/wiring/open-extractor.ts';
import { readerWithLlm } from '../../src/wiring/open-llm.ts';
import { startChatServer } from './chat-server.ts';

const KEY = 'sk-test-0c2f';
const PAGE =
  '<title>Kettle</title><main><h1>Acme Kettle</h1><p>It costs 49.90 EUR and was made by Acme.</p></main>';
const RULES = { name: 'h1', maker: { css: '.maker', required: true }, colour: { css: '.colour' } };
const NONE = { llmUrl: undefined, llmKey: undefined, llmModel: undefined, llmMaxInputTokens: 12_000 };
const wanting = (llm: boolean) =>
  requestFor({
    body: PAGE,
    kind: 'scrape',
    generation: Number(llm),
    page: { extract: { type: null, rules: RULES, schema: null, llm } },
  });
const recordOf = ({ page }: { page: { record: Uint8Array | null } }) =>
  JSON.parse(unpackRecord(page.record ?? new Uint8Array()).toString('utf8')) as PageRecord;

it('fills in the required fields that rules left empty, and no others', async () => {
  const answer = () => ({ values: { maker: 'Acme' }, evidence: { maker: 'was made by Acme' } });
  const server = await startChatServer({ key: KEY, model: 'small', answer });
  const settings = { ...NONE, llmUrl: server.url, llmKey: KEY, llmModel: 'small' };
  const reader = readerWithLlm(openExtractor(1), settings);
  onTestFinished(() => reader.close());
  expect(recordOf(await reader.read(wanting(true)))).toMatchObject({
    extracted: { name: 'Acme Kettle', maker: 'Acme', colour: null },
    extractedBy: {
      name: { source: 'css:h1', confidence: 1 },
      maker: { source: 'llm:small', confidence: 0.7 },
    },
    llm: {
      model: 'small',
      promptTokens: expect.any(Number),
      completionTokens: expect.any(Number),
      isEstimated: false,
      isCached: false,
    },
  });
  expect(server.asked).toHaveLength(1);
  expect(recordOf(await reader.read(wanting(false)))).toMatchObject({
    extracted: { maker: null },
    extractProblems: [{ path: 'maker' }],
  });
  expect(server.asked).toHaveLength(1);
});

it('is refused where no language model is set up', async () => {
  const reader = readerWithLlm(openExtractor(1), NONE);
  onTestFinished(() => reader.close());
  await expect(reader.read(wanting(true))).rejects.toMatchObject({ code: 'UNSUPPORTED_OPTION' });
});
