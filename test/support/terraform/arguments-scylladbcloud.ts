import type { Known } from './check.ts';

/**
 * Arguments of the provider scylladb/scylladbcloud, from its sources: scylladb/terraform-provider-scylladbcloud,
 * `internal/provider/cluster/cluster.go` and the files next to it of August 2026 (1.13), read on 2026-11-22. Removed and read-only
 * arguments are in `reads`, so that an old example is refused.
 */
export const SCYLLADB_CLOUD: Record<string, Known> = {
  scylladbcloud_cluster: {
    needs: 'name region',
    sets: 'cloud min_nodes node_type node_disk_size cidr_block scylla_version enable_vpc_peering enable_dns byoa_id user_api_interface alternator_write_isolation availability_zone_ids backup_retention_days',
    reads:
      'id cluster_id node_count node_dns_names node_private_ips request_id datacenter status ca_certificate',
    blocks: {
      scaling: {
        sets: 'instance_families instance_types',
        blocks: {
          storage_policy: { needs: 'min_gb target_utilization' },
          vcpu_policy: { needs: 'min' },
        },
      },
    },
  },
  scylladbcloud_allowlist_rule: { needs: 'cluster_id cidr_block', reads: 'id rule_id' },
  scylladbcloud_vpc_peering: {
    needs: 'cluster_id datacenter peer_vpc_id peer_region peer_account_id',
    sets: 'peer_cidr_blocks allow_cql',
    reads: 'id vpc_peering_id connection_id network_link peer_cidr_block',
  },
  'data.scylladbcloud_cql_auth': {
    needs: 'cluster_id',
    sets: 'datacenter dns',
    reads: 'id cluster_name seeds username password',
  },
};
