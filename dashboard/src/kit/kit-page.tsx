import { Bell } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { JOB_STATUSES } from '../api/choices.ts';
import { Badge, HttpStatus, StatusBadge } from './badge.tsx';
import { Button, IconButton } from './button.tsx';
import { Chart } from './chart.tsx';
import { CodeBlock } from './code-block.tsx';
import { CodeEditor } from './code-editor.tsx';
import { CodeSamples } from './code-samples.tsx';
import { ConfirmDialog, Dialog } from './dialog.tsx';
import { DiffView } from './diff-view.tsx';
import { Checkbox, Field, Segmented, Select, Switch, TextArea, TextInput } from './field.tsx';
import { FieldDiff } from './field-diff.tsx';
import { JsonTree } from './json-tree.tsx';
import { FormDialogSample, FormSample, GridSample, SAMPLE_DIFF } from './kit-samples.tsx';
import { Card, Columns, Figure, KeyValues, PageHeader, ProgressBar, Row, Stack } from './layout.tsx';
import { Markdown } from './markdown.tsx';
import { Menu, MenuItem, MenuSeparator } from './menu.tsx';
import { EmptyState, FailureState, Notice, Skeleton } from './states.tsx';
import { Table } from './table.tsx';
import { Tabs } from './tabs.tsx';
import { Time } from './time.tsx';
import { toast } from './toasts.tsx';

const Sample = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <Card title={name}>
    <Row align="start">{children}</Row>
  </Card>
);

const HOURS = Array.from({ length: 24 }, (_, hour) => 1_760_000_000 + hour * 3600);

/** Every owned component, once. Look here before you build another one. */
export function KitPage() {
  const [isOpen, setIsOpen] = useState(false);
  const [isConfirming, setIsConfirming] = useState(false);
  const [segment, setSegment] = useState('one');
  const [tab, setTab] = useState('first');
  const [text, setText] = useState('{ "url": "https://example.com/" }');
  return (
    <main style={{ padding: 24 }}>
      <PageHeader
        title="Components"
        about="All that pages are made of."
        actions={<Button kind="primary">Action</Button>}
      />
      <Columns min="wide">
        <Sample name="Button, IconButton">
          <Button kind="primary">Primary</Button>
          <Button>Normal</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger">Danger</Button>
          <Button isBusy>Busy</Button>
          <Button disabled>Disabled</Button>
          <IconButton icon={Bell} label="Notifications" />
        </Sample>
        <Sample name="Badge, StatusBadge, HttpStatus, Time">
          {JOB_STATUSES.map((status) => (
            <StatusBadge key={status} status={status} />
          ))}
          <Badge tone="info">browser</Badge>
          <HttpStatus code={200} />
          <HttpStatus code={404} />
          <HttpStatus code={503} />
          <Time at={Date.now() - 200_000} />
        </Sample>
        <Sample name="Field and its inputs">
          <Stack>
            <Field label="Text" hint="A hint.">
              <TextInput placeholder="https://" />
            </Field>
            <Field label="Wrong" error="Begin with http:// or https://.">
              <TextInput defaultValue="ftp://x" />
            </Field>
            <Field label="Choice">
              <Select>
                <option>One</option>
                <option>Two</option>
              </Select>
            </Field>
            <Field label="Lines">
              <TextArea />
            </Field>
            <Checkbox label="Checkbox" hint="With a hint" />
            <Switch label="Switch" />
            <Segmented
              label="Segmented"
              value={segment}
              onChange={setSegment}
              options={[
                { value: 'one', label: 'One' },
                { value: 'two', label: 'Two' },
              ]}
            />
          </Stack>
        </Sample>
        <Card title="useServerForm, FormFailure, FormDialog">
          <FormSample />
          <FormDialogSample />
        </Card>
        <Sample name="Dialog, ConfirmDialog, Menu, toast">
          <Button onClick={() => setIsOpen(true)}>Dialog</Button>
          <Button onClick={() => setIsConfirming(true)}>Confirm</Button>
          <Button onClick={() => toast.done('Monitor deleted', { label: 'Undo', onSelect: () => {} })}>
            Toast
          </Button>
          <Menu trigger={<Button>Menu</Button>}>
            <MenuItem onSelect={() => {}}>Entry</MenuItem>
            <MenuSeparator />
            <MenuItem isDangerous onSelect={() => {}}>
              Delete
            </MenuItem>
          </Menu>
          <Dialog isOpen={isOpen} onClose={() => setIsOpen(false)} title="Title" about="What it is about">
            Content
          </Dialog>
          <ConfirmDialog
            isOpen={isConfirming}
            onClose={() => setIsConfirming(false)}
            title="Delete job?"
            about="Its pages are deleted with it. This cannot be undone."
            action="Delete"
            typeToConfirm="job"
            onConfirm={async () => {}}
          />
        </Sample>
        <Card title="Figure, KeyValues, ProgressBar">
          <Columns min="narrow">
            <Figure label="Pages" value="12,480" about="of 20,000" />
            <Figure label="Failed" value="32" />
          </Columns>
          <KeyValues
            entries={[
              ['Engine', 'http'],
              ['Proxy', 'none'],
            ]}
          />
          <ProgressBar value={0.6} label="Pages done" />
        </Card>
        <Card title="Table" isFlush>
          <Table
            label="Sample"
            rows={JOB_STATUSES}
            keyOf={(row) => row}
            columns={[
              { id: 'name', head: 'Name', cell: (row) => row, isWide: true },
              { id: 'status', head: 'Status', cell: (row) => <StatusBadge status={row} /> },
            ]}
          />
        </Card>
        <Card title="DataGrid" isFlush>
          <GridSample />
        </Card>
        <Card title="Tabs">
          <Tabs
            label="Sample"
            value={tab}
            onChange={setTab}
            tabs={[
              { value: 'first', label: 'First', content: 'First' },
              { value: 'second', label: 'Second', content: 'Second' },
            ]}
          />
        </Card>
        <Card title="Chart">
          <Chart
            label="Pages an hour"
            x={HOURS}
            series={[
              { label: 'pages', values: HOURS.map((_, hour) => 40 + 30 * Math.sin(hour / 3)), shape: 'area' },
            ]}
          />
        </Card>
        <Card title="CodeEditor, CodeBlock, JsonTree">
          <Stack>
            <CodeEditor label="Sample" language="json" value={text} onChange={setText} />
            <CodeBlock label="sample" text={text} />
            <JsonTree value={{ url: 'https://example.com/', links: ['a', 'b'], count: 3, none: null }} />
          </Stack>
        </Card>
        <Card title="DiffView, FieldDiff">
          <Stack>
            <DiffView label="Sample" diff={SAMPLE_DIFF} />
            <FieldDiff
              fields={[
                { field: 'price', kind: 'changed', before: 19, after: 21, difference: 2, share: 0.095 },
                { field: 'availability', kind: 'added', before: null, after: 'in stock' },
              ]}
            />
          </Stack>
        </Card>
        <Card title="Markdown, CodeSamples">
          <Stack>
            <Markdown
              text={'# Title\n\nA **bold** [link](https://example.com/), `code`, <b>HTML</b>\n\n- one\n- two'}
            />
            <CodeSamples
              request={{ method: 'POST', path: '/v1/scrape', body: { url: 'https://example.com/' } }}
            />
          </Stack>
        </Card>
        <Card title="EmptyState, FailureState, Notice, Skeleton">
          <EmptyState
            icon={Bell}
            title="No monitors yet"
            actions={<Button kind="primary">New monitor</Button>}
          >
            A monitor tells you when a page changes.
          </EmptyState>
          <FailureState failure={new Error('It broke.')} onRetry={() => {}} />
          <Notice tone="warn">A warning.</Notice>
          <Skeleton />
        </Card>
      </Columns>
    </main>
  );
}
