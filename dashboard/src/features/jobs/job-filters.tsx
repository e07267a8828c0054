import { Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { words } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { Field, Select, TextInput } from '../../kit/field.tsx';
import { type JobsSearch, KINDS, PERIODS, STATUSES } from './address.ts';
import styles from './jobs.module.css';

const TYPING_MS = 250;

interface FiltersProps {
  readonly search: JobsSearch;
  readonly onChange: (search: JobsSearch) => void;
}

/** The filters of the list of jobs; each change goes into the address. */
export function JobFilters({ search, onChange }: FiltersProps) {
  const change = (patch: JobsSearch) => onChange({ ...search, ...patch });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <div className={styles.filters}>
      <TypedFilter
        label="Search jobs"
        placeholder="Search by URL or id"
        value={search.text}
        onChange={(text) => change({ text })}
      />
      <TypedFilter
        label="Domain"
        placeholder="Domain"
        value={search.domain}
        onChange={(domain) => change({ domain })}
      />
      <ChoiceFilter
        label="Status"
        all="Any status"
        options={STATUSES}
        value={search.status}
        onChange={(status) => change({ status })}
      />
      <ChoiceFilter
        label="Kind"
        all="Any kind"
        options={KINDS}
        value={search.kind}
        onChange={(kind) => change({ kind })}
      />
      <ChoiceFilter
        label="Created"
        all="Any time"
        options={PERIODS}
        nameOf={(period) => `last ${period}`}
        value={search.period}
        onChange={(period) => change({ period })}
      />
      {isFiltered && (
        <Button kind="quiet" icon={X} onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </div>
  );
}

function ChoiceFilter<T extends string>({
  label,
  all,
  options,
  nameOf = words,
  value,
  onChange,
}: {
  readonly label: string;
  readonly all: string;
  readonly options: readonly T[];
  readonly nameOf?: (value: T) => string;
  readonly value: T | undefined;
  readonly onChange: (value: T | undefined) => void;
}) {
  return (
    <Field label={label} isLabelHidden>
      <Select
        value={value ?? ''}
        onChange={(event) => onChange(options.find((option) => option === event.target.value))}
      >
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {nameOf(option)}
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** A text that filters a moment after the last key, so that a word is one request. */
function TypedFilter({
  label,
  placeholder,
  value = '',
  onChange,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the wait
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange(typed.trim() || undefined), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Field label={label} isLabelHidden className={styles.typed}>
      <span className={styles.search}>
        <Search size={15} aria-hidden />
        <TextInput
          type="search"
          placeholder={placeholder}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </span>
    </Field>
  );
}
