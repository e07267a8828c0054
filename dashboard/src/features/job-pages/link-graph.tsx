import type { MouseEvent } from 'react';
import type { Data } from '../../api/types.ts';
import { plural, shortUrl, words } from '../../format/format.ts';
import { cx } from '../../kit/class-names.ts';
import { cut, edgePath, GRAPH_WIDTH, type GraphBox, layoutGraph } from './graph-layout.ts';
import styles from './tree.module.css';

type PageLinks = Data<'getJobPageLinks'>;

/** Each page once, however often it is linked. */
const distinct = <T extends { readonly url: string }>(links: readonly T[], focus: string): T[] => [
  ...new Map(links.filter(({ url }) => url !== focus).map((link) => [link.url, link])).values(),
];

/** A page of the same host by its path, which says more in a small box. */
function labelOf(url: string, focus: string): string {
  const short = shortUrl(url);
  const host = URL.parse(focus)?.host;
  const path = host !== undefined && short.startsWith(`${host}/`) ? short.slice(host.length) : short;
  return cut(path, 35);
}

/** Where the picture is wider than the window, its middle is shown first. */
const centre = (canvas: HTMLElement | null): void => {
  if (canvas !== null) canvas.scrollLeft = (canvas.scrollWidth - canvas.clientWidth) / 2;
};

/** A page between those that lead to it and those it leads to. Each one is a link that puts it into the middle. */
export function LinkGraph({
  url,
  incoming,
  outgoing,
  hrefOf,
  onFocus,
}: {
  readonly url: string;
  readonly incoming: PageLinks['incoming'];
  readonly outgoing: PageLinks['outgoing'];
  readonly hrefOf: (url: string) => string;
  readonly onFocus: (url: string) => void;
}) {
  const from = distinct(incoming, url);
  const to = distinct(
    // Pages of the job come first: the others lead out of it.
    outgoing.toSorted((a, b) => Number(b.state !== null) - Number(a.state !== null)),
    url,
  );
  const { height, focus, left, right } = layoutGraph(from.length, to.length);
  return (
    <figure className={styles.graph}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section ref={centre} className={styles.canvas} aria-label="Link graph" tabIndex={0}>
        <svg
          viewBox={`0 0 ${GRAPH_WIDTH} ${height}`}
          role="group"
          aria-label={`Pages around ${shortUrl(url)}`}
        >
          {left.map((box) => (
            <path key={box.y} d={edgePath(box, focus)} className={styles.edge} />
          ))}
          {right.map((box) => (
            <path key={box.y} d={edgePath(focus, box)} className={styles.edge} />
          ))}
          {left.map((box, index) => {
            const page = from[index];
            return (
              page && (
                <Node
                  key={page.url}
                  box={box}
                  text={page.title ? cut(page.title, 35) : labelOf(page.url, url)}
                  about={`leads here: ${page.url}`}
                  href={hrefOf(page.url)}
                  onFocus={() => onFocus(page.url)}
                  tone={styles.inbound}
                />
              )
            );
          })}
          {right.map((box, index) => {
            const link = to[index];
            return (
              link && (
                <Node
                  key={link.url}
                  box={box}
                  text={labelOf(link.url, url)}
                  about={`${link.state === null ? 'not in this job' : words(link.state)}: ${link.url}`}
                  href={hrefOf(link.url)}
                  onFocus={() => onFocus(link.url)}
                  tone={styles[link.state ?? 'outside']}
                />
              )
            );
          })}
          <g>
            <rect {...focus} rx={10} className={styles.focusBox} />
            <text x={GRAPH_WIDTH / 2} y={height / 2 - 3} className={styles.focusText}>
              {cut(shortUrl(url), 32)}
            </text>
            <text x={GRAPH_WIDTH / 2} y={height / 2 + 15} className={styles.focusCount}>
              {`${plural(from.length, 'page')} in · ${plural(to.length, 'page')} out`}
            </text>
          </g>
        </svg>
      </section>
      <figcaption className={styles.caption}>
        {from.length > left.length || to.length > right.length
          ? `The picture shows ${left.length} of ${from.length} pages that lead here and ${right.length} of ${to.length} that it leads to. The tables have more.`
          : 'Choose a page to put it into the middle.'}
      </figcaption>
    </figure>
  );
}

function Node({
  box,
  text,
  about,
  href,
  onFocus,
  tone,
}: {
  readonly box: GraphBox;
  readonly text: string;
  readonly about: string;
  readonly href: string;
  readonly onFocus: () => void;
  readonly tone: string | undefined;
}) {
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onFocus();
  };
  return (
    <a href={href} onClick={open} aria-label={`${text}, ${about}`} className={styles.node}>
      <title>{about}</title>
      <rect {...box} rx={7} className={cx(styles.nodeBox, tone)} />
      <text x={box.x + 11} y={box.y + box.height / 2 + 4} className={styles.nodeText}>
        {text}
      </text>
    </a>
  );
}
