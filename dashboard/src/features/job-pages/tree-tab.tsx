import { useQuery } from '@tanstack/react-query';
import { FileText, List, Waypoints } from 'lucide-react';
import { formatNumber } from '../../format/format.ts';
import { Button, LinkButton } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Card, Row, Stack } from '../../kit/layout.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { PageLinks } from './page-links.tsx';
import { foldersOf, PathTree } from './path-tree.tsx';
import { jobQuery } from './queries.ts';
import { textOf, useAddress } from './row-search.ts';
import styles from './tree.module.css';

/** The site as the job knows it: its addresses as a tree, and the links around the page that is chosen there. */
export function TreeTab({ jobId }: { readonly jobId: string }) {
  const [raw, change] = useAddress();
  const job = useQuery(jobQuery(jobId));
  const focus = textOf(raw.focus);
  const folder = focus === undefined ? undefined : foldersOf(focus).at(-1);
  const hrefOf = (url: string) => {
    const search = new URLSearchParams(location.search);
    search.set('focus', url);
    return `${location.pathname}?${search}`;
  };
  return (
    <div className={styles.split}>
      <Card
        title="Site tree"
        about={job.data && `${formatNumber(job.data.progress.known)} URLs. Choose a page to see its links.`}
        isFlush
      >
        <PathTree jobId={jobId} chosen={focus} onChoose={({ url }) => change({ focus: url }, true)} />
      </Card>
      <div>
        {focus === undefined ? (
          <Card>
            <EmptyState icon={Waypoints} title="No page is chosen">
              Choose a page of the tree: the pages that lead to it stand left of it, those it leads to right.
            </EmptyState>
          </Card>
        ) : (
          <Stack>
            <Row align="between">
              <ExternalLink url={focus} />
              <Row>
                <Button
                  icon={List}
                  onClick={() => change({ tab: 'pages', q: folder, focus: undefined }, true)}
                >
                  Pages below
                </Button>
                <LinkButton icon={FileText} to="/jobs/$id/url" params={{ id: jobId }} search={{ u: focus }}>
                  Open page
                </LinkButton>
              </Row>
            </Row>
            <PageLinks
              key={focus}
              jobId={jobId}
              url={focus}
              hrefOf={hrefOf}
              onFocus={(url) => change({ focus: url }, true)}
            />
          </Stack>
        )}
      </div>
    </div>
  );
}
