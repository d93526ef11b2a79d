# Limits of ScyllaDB's free tier: all servers of an organization together may have 10 TB of disk and 50 vCPUs
# (https://www.scylladb.com/source-available-faq). The whole size of a disk counts, not only the used part.
locals {
  free_vcpus      = 50
  free_storage_tb = 10

  node_count = length(local.nodes)
  vcpus      = local.node_count * var.vcpus_per_node + var.other_vcpus
  storage_tb = (local.node_count * var.storage_gb_per_node + var.other_storage_gb) / 1000
}
