import { Network } from 'lucide-react';
import { useState } from 'react';
import type { RecordedXhr as Recorded } from '../../../api/types.ts';
import { formatBytes } from '../../../format/format.ts';
import { HttpStatus } from '../../../kit/badge.tsx';
import { Button, HrefButton } from '../../../kit/button.tsx';
import { CodeBlock } from '../../../kit/code-block.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { JsonTree } from '../../../kit/json-tree.tsx';
import { KeyValues, Stack } from '../../../kit/layout.tsx';
import { EmptyState, Notice } from '../../../kit/states.tsx';
import { Table } from '../../../kit/table.tsx';
import { localPath } from './page-tab.tsx';
import type { Run } from './run.ts';

/** What scripts of the page asked for. */
export function NetworkTab({ run, onAsk }: { readonly run: Run; readonly onAsk: () => void }) {
  const [opened, setOpened] = useState<Recorded | null>(null);
  const { xhr, consoleErrors } = run.page;
  return (
    <Stack>
      {xhr === undefined || xhr === null || xhr.length === 0 ? (
        <EmptyState
          icon={Network}
          title={xhr?.length === 0 ? 'Scripts asked for nothing' : 'The network was not recorded'}
          {...(xhr?.length !== 0 && {
            actions: <Button onClick={onAsk}>Record it with the next run</Button>,
          })}
        >
          Here stand the requests of the page’s scripts with their answers, often the data of the page as
          JSON. Let the page wait for what you want to see.
        </EmptyState>
      ) : (
        <Table
          label="Requests of scripts"
          rows={xhr.map((entry, index) => ({ ...entry, key: String(index) }))}
          keyOf={({ key }) => key}
          columns={[
            { id: 'method', head: 'Method', cell: ({ method }) => method },
            { id: 'status', head: 'Status', cell: ({ statusCode }) => <HttpStatus code={statusCode} /> },
            { id: 'url', head: 'URL', isWide: true, cell: ({ url }) => <span title={url}>{url}</span> },
            { id: 'type', head: 'Type', isSecondary: true, cell: ({ contentType }) => contentType ?? '–' },
            { id: 'size', head: 'Size', align: 'end', isSecondary: true, cell: sizeOf },
            {
              id: 'open',
              head: <span className="visually-hidden">Answer</span>,
              align: 'end',
              cell: (entry) => (
                <Button size="small" onClick={() => setOpened(entry)} aria-label={`Answer of ${entry.url}`}>
                  Answer
                </Button>
              ),
            },
          ]}
        />
      )}
      {consoleErrors !== undefined && consoleErrors.length > 0 && (
        <Notice tone="warn">
          The page reported errors:
          <ul>
            {[...new Set(consoleErrors)].slice(0, 20).map((text) => (
              <li key={text}>{text.slice(0, 500)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Dialog isOpen={opened !== null} onClose={() => setOpened(null)} title="Recorded answer" shape="sheet">
        {opened !== null && <Answer entry={opened} />}
      </Dialog>
    </Stack>
  );
}

function sizeOf({ text, body, isTooLarge }: Recorded): string {
  if (isTooLarge) return 'too large';
  if (body) return formatBytes(body.bytes);
  return text === undefined ? '–' : formatBytes(text.length);
}

function Answer({ entry }: { readonly entry: Recorded }) {
  const { text, body, isTooLarge } = entry;
  const json = text === undefined ? undefined : jsonOf(text);
  return (
    <Stack>
      <KeyValues
        entries={[
          ['Request', `${entry.method} ${entry.url}`],
          ['Status', <HttpStatus key="status" code={entry.statusCode} />],
          ['Type', entry.contentType ?? '–'],
        ]}
      />
      {isTooLarge && <Notice>The answer was too large to be kept.</Notice>}
      {body && (
        <HrefButton href={localPath(body.url)} download>
          {`Download (${formatBytes(body.bytes)})`}
        </HrefButton>
      )}
      {json !== undefined ? (
        <JsonTree value={json} name="answer" />
      ) : (
        text && <CodeBlock text={text} label="answer" isTall />
      )}
    </Stack>
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
