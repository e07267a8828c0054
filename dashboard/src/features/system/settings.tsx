import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { Badge } from '../../kit/badge.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Card } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import styles from './system.module.css';

type Setting = Item<'listSettings'>;
const route = getRouteApi('/signed-in/system');

const textOf = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const has = ({ variable, description }: Setting, text: string): boolean =>
  `${variable} ${description}`.toLowerCase().includes(text.toLowerCase());

/** The settings in force and where each comes from. They are changed in the environment, not here. */
export function Settings() {
  const { text = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const settings = useQuery({
    queryKey: ['system', 'settings'],
    queryFn: ({ signal }) => api.get('/v1/system/settings', { signal }),
  });
  return (
    <Card
      title="Settings"
      about="Change them in the environment, in .env or on the command line, and start the server again."
      isFlush
      actions={
        <Field label="Find a setting" isLabelHidden>
          <TextInput
            type="search"
            placeholder="Find a setting"
            defaultValue={text}
            onChange={({ target }) =>
              void navigate({
                search: { tab: 'settings', ...(target.value && { text: target.value }) },
                replace: true,
              })
            }
          />
        </Field>
      }
    >
      <QueryView query={settings}>
        {({ items }) => {
          const found = items.filter((setting) => has(setting, text));
          if (found.length === 0) return <EmptyState title="No setting has this name" />;
          return (
            <Table
              label="Settings"
              rows={found}
              keyOf={({ variable }) => variable}
              columns={[
                { id: 'name', head: 'Setting', cell: ({ variable }) => <code>{variable}</code> },
                {
                  id: 'value',
                  head: 'Value',
                  cell: ({ value }) => <span className={styles.value}>{textOf(value)}</span>,
                },
                {
                  id: 'source',
                  head: 'From',
                  cell: ({ source }) => <Badge tone={source === 'default' ? 'idle' : 'info'}>{source}</Badge>,
                },
                {
                  id: 'about',
                  head: 'About',
                  isSecondary: true,
                  cell: ({ description }) => <Sentence text={description} />,
                },
              ]}
            />
          );
        }}
      </QueryView>
    </Card>
  );
}
