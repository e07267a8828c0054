import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { formatNumber, plural } from '../../format/format.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Card, Columns, Figure, Fold, KeyValues, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { timingText } from '../../kit/schedule-field.tsx';
import { StandingActions } from '../../kit/standing-actions.tsx';
import { Notice, QueryView } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import { Changes } from './changes.tsx';

type Monitor = Data<'getMonitor'>;
const route = getRouteApi('/signed-in/monitors/$id');

export function MonitorPage() {
  const { id } = route.useParams();
  const monitor = useQuery({
    queryKey: ['monitors', id],
    queryFn: ({ signal }) => api.get('/v1/monitors/{id}', { params: { id }, signal }),
    // A check lasts seconds, and begins at once where a monitor is new or is told to check.
    refetchInterval: 3_000,
  });
  return (
    <QueryView isPage query={monitor}>
      {(found) => <Loaded monitor={found} />}
    </QueryView>
  );
}

function Loaded({ monitor }: { readonly monitor: Monitor }) {
  const { name, status, lastCheck } = monitor;
  return (
    <>
      <PageHeader
        title={name}
        above={<Link to="/monitors">Monitors</Link>}
        about={
          <Row>
            <StatusBadge status={status} />
            <span>{`checks ${timingText(monitor.schedule)}`}</span>
          </Row>
        }
        actions={
          <StandingActions
            family="monitors"
            kind="monitor"
            of={monitor}
            run={{
              label: 'Check now',
              icon: RefreshCw,
              done: 'A check is under way; what it finds appears here.',
            }}
            resumed="checks again"
            deleted="Its changes are deleted with it; the jobs of its checks stay."
          />
        }
      />
      <Stack>
        <Columns min="narrow">
          <Figure label="Checks" value={formatNumber(monitor.checks)} />
          <Figure
            label="Last check"
            value={<Time at={lastCheck?.at} />}
            {...(lastCheck !== null && { about: plural(lastCheck.pages, 'page') })}
          />
          <Figure label="Last change" value={<Time at={monitor.lastChangeAt} />} />
          <Figure label="Next check" value={<Time at={monitor.nextCheckAt} />} />
        </Columns>
        {lastCheck === null && (
          <Notice>
            The first check is under way and makes the baseline. Changes are reported from the next one on.
          </Notice>
        )}
        {lastCheck !== null && lastCheck.failed > 0 && (
          <Notice tone="warn">
            {`${plural(lastCheck.failed, 'page')} could not be checked. A failure is never reported as a change.`}{' '}
            <Link to="/jobs/$id" params={{ id: lastCheck.jobId }}>
              See why
            </Link>
          </Notice>
        )}
        <Changes monitor={monitor.id} />
        <Settings monitor={monitor} />
      </Stack>
    </>
  );
}

const Settings = ({ monitor }: { readonly monitor: Monitor }) => (
  <Card title="What it watches">
    <Stack>
      <KeyValues
        entries={[
          [
            { urls: 'Pages', site: 'Site', sitemap: 'Sitemap' }[monitor.target],
            <Stack key="urls" gap="small">
              {monitor.urls.slice(0, 20).map((url) => (
                <ExternalLink key={url} url={url} />
              ))}
              {monitor.urls.length > 20 && <span>{`and ${monitor.urls.length - 20} more`}</span>}
            </Stack>,
          ],
          ['Notifies', monitor.notify.length === 0 ? 'only here' : monitor.notify.join(', ')],
          ['Looks before a report', String(monitor.confirm)],
          ['Learns noise', monitor.learnNoise ? 'yes' : 'no'],
        ]}
      />
      <Fold title="Settings as JSON">
        <CodeBlock
          label="settings"
          text={JSON.stringify(
            {
              watch: monitor.watch,
              ignore: monitor.ignore,
              threshold: monitor.threshold,
              options: monitor.options,
            },
            null,
            2,
          )}
        />
      </Fold>
    </Stack>
  </Card>
);
