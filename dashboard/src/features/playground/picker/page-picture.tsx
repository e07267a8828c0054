import { type MouseEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { plural } from '../../../format/format.ts';
import { cx } from '../../../kit/class-names.ts';
import { EmptyState, Notice } from '../../../kit/states.tsx';
import type { Outline, OutlineEntry } from './outline.ts';
import styles from './page-picture.module.css';

const MOST_ELEMENTS = 4_000;
/** Deeper elements are shown as their text. */
const MOST_DEPTH = 120;

/** How an element looks; those that are not named stand in the line. */
const LOOKS: Readonly<Record<string, readonly string[]>> = {
  block:
    'address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header hgroup hr html legend main menu nav ol p pre search section summary ul'.split(
      ' ',
    ),
  heading: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  item: ['li'],
  table: ['table'],
  rows: ['thead', 'tbody', 'tfoot', 'caption'],
  row: ['tr'],
  cell: ['td', 'th'],
  link: ['a'],
  strong: ['b', 'strong', 'th', 'dt'],
  picture: ['img', 'picture', 'video', 'audio', 'canvas'],
  control: ['input', 'button', 'select', 'textarea'],
};
/** Elements from the head of a page, which browsers do not show. */
const UNSEEN = new Set(['head', 'title', 'meta', 'link', 'source', 'option']);

const looksOf = (tag: string): readonly string[] =>
  Object.keys(LOOKS).filter((look) => LOOKS[look]?.includes(tag));

interface PagePictureProps {
  readonly outline: Outline;
  readonly picked: OutlineEntry | null;
  readonly onPick: (entry: OutlineEntry) => void;
}

/**
 * The stored page as a picture on which elements are picked. It is drawn by the dashboard itself, of texts alone: neither
 * elements nor styles of the site are part of it. The list of elements is the same for the keyboard.
 */
export function PagePicture({ outline, picked, onPick }: PagePictureProps) {
  const place = useRef<HTMLElement>(null);
  const [pointed, setPointed] = useState<OutlineEntry | null>(null);
  const { drawn, isCut } = useMemo(() => draw(outline), [outline]);

  useEffect(() => {
    const element = place.current?.querySelector<HTMLElement>(`[data-key="${picked?.key ?? ''}"]`);
    element?.setAttribute('data-picked', '');
    return () => element?.removeAttribute('data-picked');
  }, [picked]);

  const entryAt = ({ target }: MouseEvent): OutlineEntry | null => {
    const key =
      target instanceof Element ? target.closest<HTMLElement>('[data-key]')?.dataset.key : undefined;
    return key === undefined ? null : (outline.entries[Number(key)] ?? null);
  };
  if (drawn === null)
    return <EmptyState title="Nothing to see">The page has no text and no pictures.</EmptyState>;
  return (
    <>
      {isCut && (
        <Notice>{`The first ${plural(MOST_ELEMENTS, 'element')} of the page are drawn; the list has more.`}</Notice>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the list of elements does the same by keys */}
      <section
        ref={place}
        className={styles.page}
        aria-label="The page; click an element to pick it"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        onClick={(event) => {
          const entry = entryAt(event);
          if (entry !== null) onPick(entry);
        }}
        onMouseOver={(event) => setPointed(entryAt(event))}
        onFocus={() => {}}
        onMouseLeave={() => setPointed(null)}
      >
        <Drawing>{drawn}</Drawing>
      </section>
      <p className={styles.pointed}>
        {pointed === null ? 'Click what you want from the page.' : <code>{pointed.name}</code>}
      </p>
    </>
  );
}

/** Is drawn once: what is pointed at and picked changes attributes alone. */
const Drawing = memo(({ children }: { readonly children: ReactNode }) => children);

function draw(outline: Outline): { readonly drawn: ReactNode; readonly isCut: boolean } {
  let count = 0;
  let hasText = false;
  const drawKey = (key: number, depth: number): ReactNode => {
    const entry = outline.entries[key];
    if (entry === undefined || UNSEEN.has(entry.tag) || count >= MOST_ELEMENTS) return null;
    count++;
    const looks = looksOf(entry.tag);
    const isInline = looks.length === 0 || ['link', 'strong', 'picture', 'control'].includes(looks[0] ?? '');
    const Element = isInline ? 'span' : 'div';
    const own = standIn(entry);
    if (own !== null || entry.text !== '') hasText = true;
    return (
      <Element key={key} data-key={key} className={cx(styles.node, ...looks.map((look) => styles[look]))}>
        {own ??
          (depth >= MOST_DEPTH
            ? entry.text
            : outline
                .childrenOf(key)
                .map((child) => (typeof child === 'string' ? child : drawKey(child, depth + 1))))}
      </Element>
    );
  };
  const body = outline.entries.find(({ tag }) => tag === 'body');
  const drawn = body === undefined ? null : drawKey(body.key, 0);
  return { drawn: hasText ? drawn : null, isCut: count >= MOST_ELEMENTS };
}

/** What stands for an element that shows no text of its own; null for all others. */
function standIn({ tag, attributes }: OutlineEntry): string | null {
  const attribute = (name: string) => attributes.find(([each]) => each === name)?.[1];
  if (tag === 'img') return attribute('alt') ?? attribute('src')?.split('/').at(-1) ?? 'picture';
  if (tag === 'input') return attribute('value') ?? attribute('title') ?? 'input';
  return ['video', 'audio', 'canvas'].includes(tag) ? tag : null;
}
