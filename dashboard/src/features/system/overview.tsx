import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { Card, Columns, Figure, KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { QueryView } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

type System = Data<'getSystem'>;

export function Overview() {
  const system = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => api.get('/v1/system', { signal }),
    refetchInterval: 5_000,
  });
  return <QueryView query={system}>{(found) => <Loaded system={found} />}</QueryView>;
}

/** A count that only the process that has the queue knows. */
const countOf = (count: number | null): string => (count === null ? 'not known here' : formatNumber(count));

const longestWait = (waiting: System['queues']['waiting']): number =>
  Math.max(0, ...waiting.map(({ oldestMs }) => oldestMs));

const Loaded = ({ system }: { readonly system: System }) => (
  <Stack>
    <Columns min="narrow">
      <Figure label="Version" value={system.version} about={`Node.js ${system.node}`} />
      <Figure label="Runs for" value={formatDuration(system.uptimeMs)} about={`role ${system.role}`} />
      <Figure label="URLs that wait" value={formatNumber(system.queues.openUrls)} />
      <Figure label="Fetches under way" value={formatNumber(system.queues.inFlightFetches)} />
      <Figure label="Memory" value={formatBytes(system.memory.rss)} about="of this process" />
    </Columns>
    <Columns min="wide">
      <Card title="Parts">
        <KeyValues
          entries={Object.entries(system.readiness).map(
            ([name, part]) =>
              [
                name,
                <Row key={name}>
                  <Badge tone={part.status === 'ok' ? 'good' : part.status === 'degraded' ? 'warn' : 'bad'}>
                    {part.status}
                  </Badge>
                  {part.message ?? `${formatNumber(part.ms)} ms`}
                </Row>,
              ] as const,
          )}
        />
      </Card>
      <Card title="Queues">
        <KeyValues
          entries={[
            ['Hosts that wait', countOf(system.queues.waitingHosts)],
            ['Longest wait for a worker', formatDuration(longestWait(system.queues.waiting))],
            ['Hosts at work', countOf(system.queues.activeHosts)],
            ['Deliveries that wait', formatNumber(system.queues.deliveries.pending)],
            ['Oldest delivery', formatDuration(system.queues.deliveries.oldestMs)],
            ['Store', system.drivers.store],
            ['Queue', system.drivers.queue],
            ['Bodies', system.drivers.blobs],
          ]}
        />
      </Card>
    </Columns>
    <Card title="Processes" about="Those that were heard of lately." isFlush>
      <Table
        label="Processes"
        rows={system.processes}
        keyOf={({ process }) => process}
        columns={[
          { id: 'process', head: 'Process', isWide: true, cell: ({ process }) => <code>{process}</code> },
          { id: 'role', head: 'Role', cell: ({ role }) => role },
          { id: 'version', head: 'Version', isSecondary: true, cell: ({ version }) => version },
          {
            id: 'started',
            head: 'Started',
            isSecondary: true,
            cell: ({ startedAt }) => <Time at={startedAt} />,
          },
          { id: 'heard', head: 'Heard of', cell: ({ heardAt }) => <Time at={heardAt} /> },
        ]}
      />
    </Card>
    <Columns min="wide">
      <Card title="Machine">
        <KeyValues
          entries={[
            ['Name', system.host],
            ['Processors', formatNumber(system.machine.processors)],
            ['Load', system.machine.loadAverage.map((load) => load.toFixed(1)).join(' · ')],
            [
              'Memory',
              `${formatBytes(system.machine.freeMemory)} free of ${formatBytes(system.machine.totalMemory)}`,
            ],
          ]}
        />
      </Card>
      <Storage storage={system.storage} />
    </Columns>
  </Stack>
);

function Storage({ storage }: { readonly storage: System['storage'] }) {
  if (storage === null) return null;
  return (
    <Card title="Storage" about={`${formatBytes(storage.bytes)} in ${storage.folder}`} isFlush>
      <Table
        label="Storage"
        rows={storage.entries}
        keyOf={({ name }) => name}
        columns={[
          { id: 'name', head: 'File or folder', isWide: true, cell: ({ name }) => <code>{name}</code> },
          { id: 'size', head: 'Size', align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
        ]}
      />
    </Card>
  );
}
