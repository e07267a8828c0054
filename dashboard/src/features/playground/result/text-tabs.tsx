import { useState } from 'react';
import { Segmented } from '../../../kit/field.tsx';
import { Stack } from '../../../kit/layout.tsx';
import { Markdown } from '../../../kit/markdown.tsx';
import type { StoredFormat } from '../stored-pages.ts';
import { FormatView } from './format-view.tsx';
import { LongText } from './long-text.tsx';
import type { Run } from './run.ts';

type TextFormat = Extract<StoredFormat, 'html' | 'rawHtml' | 'text'>;

const HTML_FORMATS: readonly { readonly value: TextFormat; readonly label: string }[] = [
  { value: 'html', label: 'HTML' },
  { value: 'rawHtml', label: 'As sent' },
  { value: 'text', label: 'Text' },
];

export function MarkdownTab({ run }: { readonly run: Run }) {
  const [look, setLook] = useState<'rendered' | 'raw'>('rendered');
  return (
    <Stack>
      <Segmented
        label="How the Markdown is shown"
        value={look}
        onChange={setLook}
        options={[
          { value: 'rendered', label: 'Rendered' },
          { value: 'raw', label: 'Raw' },
        ]}
      />
      <FormatView run={run} format="markdown">
        {(text) =>
          look === 'rendered' ? (
            <Markdown text={text} />
          ) : (
            <LongText text={text} label="Markdown" fileName="page.md" />
          )
        }
      </FormatView>
    </Stack>
  );
}

export function HtmlTab({ run }: { readonly run: Run }) {
  const [format, setFormat] = useState<TextFormat>('html');
  return (
    <Stack>
      <Segmented label="Which text" value={format} onChange={setFormat} options={HTML_FORMATS} />
      <FormatView key={format} run={run} format={format}>
        {(text) => (
          <LongText
            text={text}
            label={format === 'text' ? 'Text' : 'HTML'}
            fileName={format === 'text' ? 'page.txt' : 'page.html.txt'}
          />
        )}
      </FormatView>
    </Stack>
  );
}
