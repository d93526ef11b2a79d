# ScyllaDB's free tier: 10 TB of disk and 50 vCPUs, of all its servers in an organization together
# (https://www.scylladb.com/source-available-faq). Disks count as they are, not as they are filled.
locals {
  free_vcpus      = 50
  free_storage_tb = 10

  node_count = length(local.nodes)
  vcpus      = local.node_count * var.vcpus_per_node + var.other_vcpus
  storage_tb = (local.node_count * var.storage_gb_per_node + var.other_storage_gb) / 1000
}
