import { useState } from 'react';
import { formatPercent, words } from '../../../format/format.ts';
import { Badge } from '../../../kit/badge.tsx';
import { CopyButton } from '../../../kit/copy-button.tsx';
import { Segmented } from '../../../kit/field.tsx';
import { JsonTree } from '../../../kit/json-tree.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { EmptyState, Notice } from '../../../kit/states.tsx';
import type { Run } from './run.ts';

/** The parts of the answer, in the order of what people look for. */
function partsOf({ page }: Run): readonly { value: string; label: string; data: unknown }[] {
  const { metadata, structured, content, headers, cookies, redirects } = page;
  const response = {
    statusCode: page.statusCode,
    contentType: page.contentType,
    headers,
    cookies,
    redirects,
  };
  return [
    { value: 'extracted', label: 'Extracted', data: page.extracted },
    { value: 'metadata', label: 'Metadata', data: metadata },
    { value: 'structured', label: 'Structured', data: structured },
    { value: 'content', label: 'Content', data: content },
    { value: 'actions', label: 'Actions', data: page.actions?.length ? page.actions : undefined },
    { value: 'response', label: 'Response', data: response },
    { value: 'all', label: 'Everything', data: page },
  ].filter(({ data }) => data !== undefined);
}

export function DataTab({ run }: { readonly run: Run }) {
  const parts = partsOf(run);
  const [chosen, setChosen] = useState<string | null>(null);
  const part = parts.find(({ value }) => value === chosen) ?? parts[0];
  if (part === undefined) return null;
  return (
    <Stack>
      <Row align="between">
        <Segmented label="Part of the answer" value={part.value} options={parts} onChange={setChosen} />
        <CopyButton text={() => JSON.stringify(part.data, null, 2)} label="Copy JSON" />
      </Row>
      {part.value === 'extracted' && <ExtractionAbout run={run} />}
      {part.data === null ? (
        <EmptyState title="Nothing was found">
          The page shows no thing of a known type. Name a type, or write rules with the picker.
        </EmptyState>
      ) : (
        <JsonTree key={part.value} value={part.data} name={part.value} />
      )}
    </Stack>
  );
}

/** As what the page was read, how sure that is, and what is wrong with the values. */
function ExtractionAbout({ run }: { readonly run: Run }) {
  const { extractedType, extractedProbability, extractProblems, llm } = run.page;
  return (
    <Stack gap="small">
      <Row>
        {extractedType && <Badge tone="info">{words(extractedType)}</Badge>}
        {extractedProbability !== undefined && <span>{formatPercent(extractedProbability)} likely</span>}
        {llm && (
          <span>
            Asked {llm.model}: {llm.promptTokens + llm.completionTokens} tokens
            {llm.isCached ? ', known already' : ''}
          </span>
        )}
      </Row>
      {extractProblems !== undefined && extractProblems.length > 0 && (
        <Notice tone="warn">
          <ul>
            {extractProblems.slice(0, 50).map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path}</code>: {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </Stack>
  );
}
