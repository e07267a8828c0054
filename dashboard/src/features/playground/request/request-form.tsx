import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../kit/badge.tsx';
import { cx } from '../../../kit/class-names.ts';
import type { OptionField } from './option-field-types.ts';
import { OPTION_GROUPS, type OptionGroup } from './option-fields.ts';
import { OptionInput } from './option-input.tsx';
import type { Draft, DraftValue, Problems } from './request-draft.ts';
import styles from './request-form.module.css';

interface RequestFormProps {
  readonly draft: Draft;
  readonly problems: Problems;
  readonly onChange: (path: string, value: DraftValue) => void;
}

const isSet = (value: DraftValue | undefined): boolean =>
  value !== undefined && (typeof value === 'boolean' || value.length > 0);

/** The options of a request, grouped by task; what is rarely needed is folded. */
export const RequestForm = (props: RequestFormProps) => (
  <div className={styles.groups}>
    {OPTION_GROUPS.map((group) => (
      <Group key={group.id} group={group} {...props} />
    ))}
  </div>
);

function Group({ group, ...props }: RequestFormProps & { readonly group: OptionGroup }) {
  const { draft, problems } = props;
  const [isOpen, setIsOpen] = useState(group.id === 'get');
  const all = [...group.main, ...group.advanced];
  const hasProblem = all.some(({ path }) => problems[path] !== undefined);
  const count = all.filter(({ path }) => isSet(draft[path])).length;
  return (
    <details
      className={styles.group}
      open={isOpen || hasProblem}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        <ChevronRight size={16} aria-hidden />
        <span className={styles.groupTitle}>
          <h3>{group.title}</h3>
          <span className={styles.hint}>{group.about}</span>
        </span>
        {hasProblem ? <Badge tone="bad">check</Badge> : count > 0 && <Badge>{count}</Badge>}
      </summary>
      {(isOpen || hasProblem) && (
        <>
          <Fields fields={group.main} {...props} />
          <Advanced fields={group.advanced} {...props} />
        </>
      )}
    </details>
  );
}

function Advanced({ fields, ...props }: RequestFormProps & { readonly fields: readonly OptionField[] }) {
  const mustShow = fields.some(({ path }) => props.problems[path] !== undefined);
  const [isOpen, setIsOpen] = useState(() => fields.some(({ path }) => isSet(props.draft[path])));
  return (
    <details
      className={styles.advanced}
      open={isOpen || mustShow}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        <ChevronRight size={14} aria-hidden />
        Advanced
      </summary>
      {(isOpen || mustShow) && <Fields fields={fields} {...props} />}
    </details>
  );
}

const Fields = ({
  fields,
  draft,
  problems,
  onChange,
}: RequestFormProps & { readonly fields: readonly OptionField[] }) => (
  <div className={styles.fields}>
    {fields.map((field) => (
      <div key={field.path} className={cx(styles.cell, field.isHalf && styles.half)} data-option={field.path}>
        <OptionInput
          field={field}
          value={draft[field.path]}
          error={problems[field.path]}
          onChange={(value) => onChange(field.path, value)}
        />
      </div>
    ))}
  </div>
);
