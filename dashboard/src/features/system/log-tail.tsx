import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { formatExact } from '../../format/format.ts';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Field, Select, Switch, TextInput } from '../../kit/field.tsx';
import { Card, Row } from '../../kit/layout.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import type { LogLevel } from './routes.ts';
import styles from './system.module.css';

const route = getRouteApi('/signed-in/system');
const TONES: Readonly<Record<string, Tone>> = { warn: 'warn', error: 'bad', fatal: 'bad', info: 'info' };
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The newest lines of the log of the process that answers. */
export function LogTail() {
  const { level = 'info', text } = route.useSearch();
  const navigate = route.useNavigate();
  const [isFollowing, setIsFollowing] = useState(true);
  const log = useQuery({
    queryKey: ['system', 'log', level, text ?? null],
    queryFn: ({ signal }) =>
      api.get('/v1/system/log', { query: { level, ...(text && { text }), limit: 200 }, signal }),
    refetchInterval: isFollowing ? 2_000 : false,
    placeholderData: (before) => before,
  });
  const setText = (next: string) =>
    void navigate({ search: { tab: 'log', level, ...(next && { text: next }) }, replace: true });
  return (
    <Card
      title="Log"
      isFlush
      actions={
        <Row>
          <Switch
            label="Follow"
            checked={isFollowing}
            onChange={(event) => setIsFollowing(event.target.checked)}
          />
          <Select
            aria-label="Level"
            value={level}
            onChange={({ target }) =>
              void navigate({
                search: { tab: 'log', level: target.value as LogLevel, ...(text && { text }) },
                replace: true,
              })
            }
          >
            <option value="debug">debug and above</option>
            <option value="info">info and above</option>
            <option value="warn">warnings and errors</option>
            <option value="error">errors</option>
          </Select>
          <Field label="Text" isLabelHidden>
            <TextInput
              type="search"
              placeholder="Text in the line"
              defaultValue={text ?? ''}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
        </Row>
      }
    >
      <QueryView query={log}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No line of this kind" />
          ) : (
            <Table
              label="Log"
              rows={items}
              keyOf={({ number }) => String(number)}
              columns={[
                {
                  id: 'at',
                  head: 'Time',
                  isOneLine: true,
                  cell: ({ at }) => (
                    <time dateTime={at} title={formatExact(at)}>
                      {TIME.format(new Date(at))}
                    </time>
                  ),
                },
                {
                  id: 'level',
                  head: 'Level',
                  cell: (line) => <Badge tone={TONES[line.level] ?? 'idle'}>{line.level}</Badge>,
                },
                {
                  id: 'message',
                  head: 'Message',
                  cell: ({ message, fields }) => (
                    <span className={styles.line}>
                      {message} <code className={styles.fields}>{JSON.stringify(fields)}</code>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </QueryView>
    </Card>
  );
}
