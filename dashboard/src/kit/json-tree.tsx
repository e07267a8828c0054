import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';
import styles from './json-tree.module.css';

/** Entries shown at once; the rest comes by a button, so that a list of 100,000 entries does not freeze the page. */
const STEP = 100;

/** A value of JSON as a tree that opens and closes. */
export const JsonTree = ({
  value,
  name = 'data',
  openDepth = 2,
}: {
  readonly value: unknown;
  readonly name?: string;
  readonly openDepth?: number;
}) => (
  <div className={styles.tree}>
    <Node name={name} value={value} openDepth={openDepth} />
  </div>
);

function Node({
  name,
  value,
  openDepth,
}: {
  readonly name: string;
  readonly value: unknown;
  readonly openDepth: number;
}) {
  const [isOpen, setIsOpen] = useState(openDepth > 0);
  const [limit, setLimit] = useState(STEP);
  if (typeof value !== 'object' || value === null) {
    return (
      <div className={styles.leaf}>
        <span className={styles.name}>{name}</span>
        <span className={styles[value === null ? 'nothing' : typeof value] ?? styles.string}>
          {textOf(value)}
        </span>
      </div>
    );
  }
  const entries = Object.entries(value);
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)} className={styles.node}>
      <summary>
        <ChevronRight size={14} aria-hidden />
        <span className={styles.name}>{name}</span>
        <span className={styles.size}>
          {Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`}
        </span>
      </summary>
      {isOpen && (
        <div className={styles.children}>
          {entries.slice(0, limit).map(([key, child]) => (
            <Node key={key} name={key} value={child} openDepth={openDepth - 1} />
          ))}
          {entries.length > limit && (
            <Button size="small" onClick={() => setLimit(limit + STEP)}>
              {`Show more (${entries.length - limit} left)`}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : String(value));
