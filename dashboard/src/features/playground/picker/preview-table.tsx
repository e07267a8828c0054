import { shortUrl } from '../../../format/format.ts';
import { Sentence } from '../../../kit/sentence.tsx';
import { Table } from '../../../kit/table.tsx';
import type { ReadPage } from '../stored-pages.ts';
import styles from './picker.module.css';

interface PreviewTableProps {
  readonly names: readonly string[];
  readonly pages: readonly { readonly key: string; readonly page: ReadPage }[];
}

/** One row per page, one column per field. */
export const PreviewTable = ({ names, pages }: PreviewTableProps) => (
  <div className={styles.grid}>
    <Table
      label="What the rules yield"
      rows={pages}
      keyOf={({ key }) => key}
      columns={[
        { id: 'page', head: 'Page', cell: ({ page }) => <span title={page.url}>{shortUrl(page.url)}</span> },
        ...names.map((name) => ({
          id: `field ${name}`,
          head: <code>{name}</code>,
          cell: ({ page }: { readonly page: ReadPage }) => <Value page={page} name={name} />,
        })),
      ]}
    />
  </div>
);

const SHOWN = 140;

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const isPlainList = Array.isArray(value) && value.every((each) => typeof each !== 'object');
  return isPlainList ? value.join(' · ') : JSON.stringify(value);
};

function Value({ page, name }: { readonly page: ReadPage; readonly name: string }) {
  if (page.error)
    return (
      <span className={styles.bad}>
        <Sentence text={page.error.message} />
      </span>
    );
  const value = page.extracted?.[name];
  const problem = page.extractProblems?.find(({ path }) => path === name || path.startsWith(`${name}.`));
  const isNothing = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  const text = textOf(value);
  return (
    <>
      {isNothing ? (
        <span className={styles.faint}>nothing found</span>
      ) : (
        <span className={styles.value}>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</span>
      )}
      {problem && (
        <div className={styles.bad}>
          <Sentence text={problem.message} />
        </div>
      )}
    </>
  );
}
