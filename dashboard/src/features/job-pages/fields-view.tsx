import type { Page } from '../../api/types.ts';
import { formatPercent } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { CopyButton } from '../../kit/copy-button.tsx';
import { JsonTree } from '../../kit/json-tree.tsx';
import { Card, KeyValues, Stack } from '../../kit/layout.tsx';
import { EmptyState, Notice, QueryView, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { NothingStored } from './content-view.tsx';
import type { PageViewProps } from './page-props.ts';
import styles from './page-views.module.css';

/** What was extracted from the page: fields with their origin, structured data and metadata. */
export function FieldsView({ page }: PageViewProps) {
  return (
    <QueryView query={page} skeleton={<Skeleton lines={8} />}>
      {(found) =>
        found === null ? (
          <NothingStored />
        ) : (
          <Stack>
            <Extracted page={found} />
            {found.structured !== undefined && found.structured !== null && (
              <Card title="Structured data">
                <JsonTree value={found.structured} name="structured" />
              </Card>
            )}
            {found.metadata && <Metadata metadata={found.metadata} />}
          </Stack>
        )
      }
    </QueryView>
  );
}

function Extracted({ page }: { readonly page: Page }) {
  const { extracted, extractedType, extractedProbability, extractedBy = {}, extractProblems = [] } = page;
  const all = Object.entries(extracted ?? {});
  const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);
  const fields = all.filter(([, value]) => !isEmpty(value));
  const empty = all.filter(([, value]) => isEmpty(value)).map(([name]) => name);
  const hasFields = fields.length > 0;
  return (
    <Card
      title="Extracted fields"
      about={
        extractedType
          ? `Read as ${extractedType}${extractedProbability === undefined ? '' : `, ${formatPercent(extractedProbability)} likely`}`
          : undefined
      }
      actions={hasFields && <CopyButton text={() => JSON.stringify(extracted, null, 2)} label="Copy JSON" />}
      isFlush={hasFields}
    >
      {extractProblems.length > 0 && (
        <Notice tone="warn">
          <ul>
            {extractProblems.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path}</code>: {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {hasFields ? (
        <Table
          label="Extracted fields"
          rows={fields}
          keyOf={([name]) => name}
          columns={[
            { id: 'name', head: 'Field', cell: ([name]) => <code>{name}</code> },
            { id: 'value', head: 'Value', cell: ([name, value]) => <Value name={name} value={value} /> },
            {
              id: 'origin',
              head: 'From',
              isSecondary: true,
              cell: ([name]) => {
                const origin = extractedBy[name];
                if (origin === undefined) return null;
                return <Badge>{`${origin.source} · ${formatPercent(origin.confidence)}`}</Badge>;
              },
            },
          ]}
        />
      ) : (
        <EmptyState title="No fields were extracted">
          Start the crawl with <code>extract</code>: a type such as product or article, or rules that the
          playground writes for you.
        </EmptyState>
      )}
      {empty.length > 0 && <p className={styles.below}>{`Without a value: ${empty.join(', ')}`}</p>}
    </Card>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (typeof value === 'object' && value !== null)
    return <JsonTree value={value} name={name} openDepth={1} />;
  return <span className={styles.value}>{value === null ? '–' : String(value)}</span>;
}

function Metadata({ metadata }: { readonly metadata: NonNullable<Page['metadata']> }) {
  const { title, description, language, canonical, robots, charset, headings, ...rest } = metadata;
  return (
    <Card title="Metadata">
      <KeyValues
        entries={[
          ['Title', title],
          ['Description', description],
          ['Language', language],
          ['Canonical', canonical],
          ['Robots', robots ?? undefined],
          ['Charset', charset ?? undefined],
          [
            'Headings',
            headings.length === 0 ? undefined : (
              <ul key="headings">
                {headings.slice(0, 40).map(({ level, text }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: headings have no identity beside their place
                  <li key={index}>{`h${level} ${text}`}</li>
                ))}
              </ul>
            ),
          ],
        ]}
      />
      <JsonTree value={rest} name="more" openDepth={0} />
    </Card>
  );
}
