import { ListFilter, Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Data } from '../../api/types.ts';
import { formatNumber, words } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { cx } from '../../kit/class-names.ts';
import { Field, Select, TextInput } from '../../kit/field.tsx';
import styles from './job-pages.module.css';
import { KINDS, type RowFilter, type RowSearch, STATES, STATUS_CLASSES } from './row-search.ts';

type Summary = Data<'summarizeJob'>;

const TYPING_MS = 300;
const STATUS_NAMES: Readonly<Record<string, string>> = {
  '1xx': '1xx information',
  '2xx': '2xx success',
  '3xx': '3xx redirect',
  '4xx': '4xx client error',
  '5xx': '5xx server error',
  none: 'no response',
};
const KIND_NAMES: Readonly<Record<string, string>> = {
  page: 'pages',
  sitemap: 'sitemaps',
  site: 'searches for sitemaps',
  any: 'everything',
};

/** What a list of URLs is narrowed to. The choices are those that the whole job has, with how many URLs each has. */
export function RowFilters({
  search,
  whole,
  defaultKind = 'page',
  onChange,
  children,
}: {
  readonly search: RowSearch;
  /** The summary of the job without a filter. */
  readonly whole: Summary | undefined;
  /** What the list shows when no kind is chosen. */
  readonly defaultKind?: (typeof KINDS)[number];
  readonly onChange: (search: RowSearch) => void;
  /** Further controls at the end of the row. */
  readonly children?: ReactNode;
}) {
  const { filter } = search;
  const set = (patch: Readonly<Record<string, string | undefined>>) => {
    const all = Object.entries({ ...filter, ...patch }).filter(([, value]) => value !== undefined);
    onChange({ ...search, filter: Object.fromEntries(all) as RowFilter });
  };
  const countOf = (state: string) => whole?.states.find((each) => each.state === state)?.urls;
  const isFiltered = Object.keys(filter).length > 0;
  const chosen = Object.keys(filter).filter((name) => name !== 'text').length;
  // Only narrow windows have the button that opens the choices.
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className={styles.filters}>
      <TextFilter text={filter.text ?? ''} onChange={(text) => set({ text: text || undefined })} />
      <span className={styles.toggle}>
        <Button icon={ListFilter} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {chosen > 0 ? `Filters (${chosen})` : 'Filters'}
        </Button>
      </span>
      <div className={cx(styles.choices, isOpen && styles.open)}>
        <Choice
          label="State"
          every="Every state"
          value={filter.state}
          options={STATES.map((state) => [state, withCount(words(state), countOf(state))])}
          onChange={(state) => set({ state })}
        />
        <Choice
          label="HTTP status"
          every="Every status"
          value={filter.statusClass}
          options={STATUS_CLASSES.map((name) => [name, STATUS_NAMES[name] ?? name])}
          onChange={(statusClass) => set({ statusClass })}
        />
        <Choice
          label="Reason"
          every="Every reason"
          value={filter.reason}
          options={(whole?.causes ?? []).map(({ cause, urls }) => [cause, withCount(cause, urls)])}
          onChange={(reason) => set({ reason })}
        />
        <Choice
          label="Engine"
          every="Every engine"
          value={filter.engine}
          options={(whole?.engines ?? []).map(({ engine, urls }) => [engine, withCount(engine, urls)])}
          onChange={(engine) => set({ engine })}
        />
        <Choice
          label="Content type"
          every="Every type"
          value={filter.contentType}
          options={(whole?.contentTypes ?? []).flatMap(({ contentType, pages }) =>
            contentType === null ? [] : [[contentType, withCount(contentType, pages)] as const],
          )}
          onChange={(contentType) => set({ contentType })}
        />
        {(whole?.hosts.length ?? 0) > 1 && (
          <Choice
            label="Host"
            every="Every host"
            value={filter.host}
            options={(whole?.hosts ?? []).map(({ host, urls }) => [host, withCount(host, urls)])}
            onChange={(host) => set({ host })}
          />
        )}
        <Choice
          label="Kind"
          every={null}
          value={filter.kind ?? defaultKind}
          options={KINDS.map((kind) => [kind, KIND_NAMES[kind] ?? kind])}
          onChange={(kind) => set({ kind: kind === defaultKind ? undefined : kind })}
        />
      </div>
      {isFiltered && (
        <Button kind="quiet" icon={X} onClick={() => onChange({ ...search, filter: {} })}>
          Clear
        </Button>
      )}
      <div className={styles.filterEnd}>{children}</div>
    </div>
  );
}

const withCount = (name: string, count: number | undefined): string =>
  count === undefined ? name : `${name} (${formatNumber(count)})`;

function Choice({
  label,
  every,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  /** The name of no choice; null where one is always made. */
  readonly every: string | null;
  readonly value: string | undefined;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string | undefined) => void;
}) {
  // A value of a shared address may not be among the options, and is in force nevertheless.
  const isUnknown = value !== undefined && !options.some(([each]) => each === value);
  return (
    <Field label={label} isLabelHidden className={styles.choice}>
      <Select value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
        {every !== null && <option value="">{every}</option>}
        {isUnknown && <option value={value}>{value}</option>}
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** Searches when typing has stopped, and at once on Enter. */
function TextFilter({
  text,
  onChange,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => onChange(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <Field label="URL or title contains" isLabelHidden className={styles.textFilter}>
      <Search size={15} aria-hidden />
      <TextInput
        type="search"
        value={typed}
        maxLength={500}
        placeholder="URL or title contains…"
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && onChange(typed.trim())}
      />
    </Field>
  );
}
