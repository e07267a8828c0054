import { ChevronRight, FileText, Folder, Globe } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { formatNumber } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { cx } from '../../kit/class-names.ts';
import { useList } from '../../kit/list-view.tsx';
import { EmptyState, FailureState, Skeleton } from '../../kit/states.tsx';
import { keyOf } from './queries.ts';
import styles from './tree.module.css';

type JobPath = Item<'listJobPaths'>;

interface Branch {
  readonly jobId: string;
  readonly open: ReadonlySet<string>;
  readonly chosen: string | undefined;
  toggle(url: string): void;
  choose(path: JobPath): void;
}

/** Folders above a URL, from the outside in, so that a shared address opens the way to it. */
export function foldersOf(url: string): string[] {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null) return [];
  const parts = parsed.pathname.split('/').slice(1, -1);
  return [
    `${parsed.origin}/`,
    ...parts.map((_, at) => `${parsed.origin}/${parts.slice(0, at + 1).join('/')}/`),
  ];
}

/** The folder of an entry: the last one before it that is one level higher. */
function parentOf(items: readonly HTMLElement[], at: number): HTMLElement | undefined {
  const level = (item: HTMLElement | undefined) => Number(item?.ariaLevel);
  return items.slice(0, at).findLast((item) => level(item) === level(items[at]) - 1);
}

/** The addresses of a job as a tree. Arrow keys move and open, Enter chooses. */
export function PathTree({
  jobId,
  chosen,
  onChoose,
}: {
  readonly jobId: string;
  readonly chosen: string | undefined;
  readonly onChoose: (path: JobPath) => void;
}) {
  const tree = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(chosen ? foldersOf(chosen) : []));
  const branch: Branch = {
    jobId,
    open,
    chosen,
    toggle: (url) =>
      setOpen((before) => {
        const next = new Set(before);
        if (!next.delete(url)) next.add(url);
        return next;
      }),
    choose: onChoose,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...(tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]') ?? [])];
    const item = (event.target as Element).closest<HTMLElement>('[role="treeitem"]');
    if (item === null || event.target !== item) return;
    const at = items.indexOf(item);
    const isOpen = item.getAttribute('aria-expanded');
    const url = item.dataset.url ?? '';
    const target = {
      ArrowDown: items[at + 1],
      ArrowUp: items[at - 1],
      Home: items[0],
      End: items.at(-1),
      ArrowRight: isOpen === 'true' ? items[at + 1] : undefined,
      ArrowLeft: isOpen === 'true' ? undefined : parentOf(items, at),
    }[event.key];
    if (target) target.focus();
    else if (event.key === 'ArrowRight' && isOpen === 'false') branch.toggle(url);
    else if (event.key === 'ArrowLeft' && isOpen === 'true') branch.toggle(url);
    else if (event.key === 'Enter' || event.key === ' ') item.click();
    else if (!['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={tree}
      className={styles.tree}
      role="tree"
      aria-label="Addresses of the job"
      onKeyDown={onKeyDown}
    >
      <Entries branch={branch} under={undefined} level={1} />
    </div>
  );
}

/** What comes next below a beginning; loaded when it is opened. */
function Entries({
  branch,
  under,
  level,
}: {
  readonly branch: Branch;
  readonly under: string | undefined;
  readonly level: number;
}) {
  const list = useList<JobPath>(keyOf(branch.jobId, 'tree', under ?? ''), (cursor, signal) =>
    api.get('/v1/jobs/{id}/tree', {
      params: { id: branch.jobId },
      query: { ...(under && { under }), ...(cursor && { cursor }), limit: 100 },
      signal,
    }),
  );
  if (list.items === undefined) {
    return (
      <div className={styles.pending}>
        {list.error ? <FailureState failure={list.error} onRetry={list.refetch} /> : <Skeleton lines={2} />}
      </div>
    );
  }
  if (list.items.length === 0 && under === undefined) {
    return (
      <div>
        <EmptyState title="No addresses yet">The tree grows as the job finds URLs.</EmptyState>
      </div>
    );
  }
  return (
    <>
      {list.items.map((path, index) => (
        <TreeEntry
          key={path.url}
          branch={branch}
          path={path}
          level={level}
          isFirst={level === 1 && index === 0}
        />
      ))}
      {list.hasMore && (
        <div className={styles.pending}>
          <Button size="small" isBusy={list.isLoadingMore} onClick={list.more}>
            {`Show more below ${under ?? 'the job'}`}
          </Button>
        </div>
      )}
    </>
  );
}

function TreeEntry({
  branch,
  path,
  level,
  isFirst,
}: {
  readonly branch: Branch;
  readonly path: JobPath;
  readonly level: number;
  readonly isFirst: boolean;
}) {
  const isOpen = path.isFolder && branch.open.has(path.url);
  const isChosen = !path.isFolder && branch.chosen === path.url;
  // The page of a folder itself has no name of its own.
  const name = path.name === '' ? '(this address)' : path.name;
  const Icon = level === 1 ? Globe : path.isFolder ? Folder : FileText;
  const failed = path.failed > 0 ? `${formatNumber(path.failed)} failed` : '';
  const left = [
    path.skipped > 0 && `${formatNumber(path.skipped)} skipped`,
    path.denied > 0 && `${formatNumber(path.denied)} denied`,
  ].filter((each) => each !== false);
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its entries */}
      <div
        role="treeitem"
        aria-level={level}
        aria-selected={isChosen}
        {...(path.isFolder && { 'aria-expanded': isOpen })}
        data-url={path.url}
        tabIndex={isChosen || (branch.chosen === undefined && isFirst) ? 0 : -1}
        className={cx(styles.line, isChosen && styles.chosen)}
        onClick={() => (path.isFolder ? branch.toggle(path.url) : branch.choose(path))}
      >
        <ChevronRight
          size={14}
          aria-hidden
          className={cx(styles.chevron, isOpen && styles.opened, !path.isFolder && styles.leaf)}
        />
        <Icon size={15} aria-hidden />
        <span className={styles.name} title={path.url}>
          {name}
        </span>
        <span className={styles.failures}>{failed}</span>
        <span className={styles.left}>{left.join(' · ')}</span>
        <span className={styles.count}>
          {formatNumber(path.urls)}
          <span className="visually-hidden">{path.urls === 1 ? ' URL' : ' URLs'}</span>
        </span>
      </div>
      {isOpen && (
        <div className={styles.group}>
          <Entries branch={branch} under={path.url} level={level + 1} />
        </div>
      )}
    </>
  );
}
