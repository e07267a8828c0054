import { join } from 'node:path';

/** What a cluster of one is called and where it is. */
export interface Cluster {
  readonly dir: string;
  readonly fsid: string;
  readonly monitorPort: number;
  readonly gatewayPort: number;
}

/** The monitor's address as Ceph writes it: version 2 of its protocol only. */
export const monitorAddress = ({ monitorPort }: Cluster): string => `[v2:127.0.0.1:${monitorPort}]`;

export function cephConfiguration(cluster: Cluster): string {
  const { dir, fsid, gatewayPort } = cluster;
  return `[global]
fsid = ${fsid}
mon_host = ${monitorAddress(cluster)}
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = ${join(dir, 'keyring')}
run_dir = ${dir}
admin_socket =
pid_file =
log_file =
log_to_stderr = true
err_to_stderr = true
mon_cluster_log_to_file = false
crash_dir = ${join(dir, 'crash')}

# One of everything, and little of it.
mon_allow_pool_size_one = true
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 4294967296

# Every new pool is a decision of the monitors, which gather proposals for a second each unless told otherwise.
paxos_propose_interval = 0.05
paxos_min_wait = 0.01

# The fast way to stop leaves out writing the memory to the folder.
osd_fast_shutdown = false

[mon.a]
mon_data = ${join(dir, 'mon')}

[osd.0]
osd_data = ${join(dir, 'osd')}

[client.admin]
rgw_data = ${join(dir, 'rgw')}
rgw_frontends = beast endpoint=127.0.0.1:${gatewayPort} tcp_nodelay=1
`;
}
