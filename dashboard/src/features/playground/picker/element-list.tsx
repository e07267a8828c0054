import { useDeferredValue, useMemo, useState } from 'react';
import { plural } from '../../../format/format.ts';
import { cx } from '../../../kit/class-names.ts';
import { DataGrid, type GridColumn } from '../../../kit/data-grid.tsx';
import { Checkbox, Field, TextInput } from '../../../kit/field.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { arraySource } from '../../../kit/row-source.ts';
import { EmptyState, Notice } from '../../../kit/states.tsx';
import type { Outline, OutlineEntry } from './outline.ts';
import styles from './picker.module.css';

/** Deeper elements stand below each other, so that their text stays in sight. */
const MOST_INDENT = 14;

interface ElementListProps {
  readonly outline: Outline;
  readonly picked: OutlineEntry | null;
  readonly onPick: (entry: OutlineEntry) => void;
}

/** The elements of the page as text: arrow keys move, Enter or a click picks. */
export function ElementList({ outline, picked, onPick }: ElementListProps) {
  const [typed, setTyped] = useState('');
  const [isAll, setIsAll] = useState(false);
  const filter = useDeferredValue(typed.trim().toLowerCase());
  const shown = useMemo(
    () =>
      outline.entries.filter(
        ({ hasValue, name, text, attributes }) =>
          (isAll || hasValue) &&
          (filter === '' ||
            name.toLowerCase().includes(filter) ||
            text.toLowerCase().includes(filter) ||
            attributes.some(([, value]) => value.toLowerCase().includes(filter))),
      ),
    [outline, isAll, filter],
  );
  const source = useMemo(() => arraySource(shown), [shown]);
  const columns: readonly GridColumn<OutlineEntry>[] = [
    {
      id: 'element',
      head: 'Element',
      width: 170,
      grow: 1,
      cell: ({ key, depth, name }) => (
        <code
          className={cx(styles.name, key === picked?.key && styles.picked)}
          style={{ paddingLeft: isAll ? Math.min(depth, MOST_INDENT) * 9 : 0 }}
        >
          {name}
        </code>
      ),
    },
    {
      id: 'text',
      head: 'Text',
      width: 200,
      grow: 2,
      cell: ({ text, attributes }) =>
        text || <span className={styles.faint}>{attributes[0]?.join(': ') ?? ''}</span>,
    },
  ];
  return (
    <Stack gap="small">
      <Row align="between">
        <Field label="Find on the page" isLabelHidden className={styles.find}>
          <TextInput
            placeholder="Find a text, class or value"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </Field>
        <Checkbox label="All elements" checked={isAll} onChange={(event) => setIsAll(event.target.checked)} />
      </Row>
      {outline.isCut && (
        <Notice>
          The page has more elements than the {plural(outline.entries.length, 'first one', 'first ones')}{' '}
          listed here.
        </Notice>
      )}
      <div className={styles.grid}>
        <DataGrid
          label="Elements of the page"
          columns={columns}
          source={source}
          onOpen={onPick}
          height="min(52dvh, 460px)"
          empty={<EmptyState title="No element fits">Other words may, or show all elements.</EmptyState>}
        />
      </div>
    </Stack>
  );
}
