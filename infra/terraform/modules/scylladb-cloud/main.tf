resource "scylladbcloud_cluster" "this" {
  name                  = var.name
  cloud                 = var.cloud
  region                = var.region
  node_type             = var.node_type
  min_nodes             = var.min_nodes
  cidr_block            = var.cidr_block
  availability_zone_ids = var.availability_zone_ids
  scylla_version        = var.scylla_version
  backup_retention_days = var.backup_retention_days
  user_api_interface    = "CQL"
  enable_vpc_peering    = var.private
  enable_dns            = true

  lifecycle {
    # A change of nearly any argument replaces the cluster, which deletes its data.
    prevent_destroy = true
    # ScyllaDB Cloud runs the upgrades. Without this line the next plan would replace the cluster to restore the old version.
    ignore_changes = [scylla_version]
  }
}

resource "scylladbcloud_allowlist_rule" "this" {
  for_each = var.allowed_cidr_blocks

  cluster_id = scylladbcloud_cluster.this.cluster_id
  cidr_block = each.value
}

resource "scylladbcloud_vpc_peering" "this" {
  for_each = var.peerings

  cluster_id       = scylladbcloud_cluster.this.cluster_id
  datacenter       = scylladbcloud_cluster.this.datacenter
  peer_account_id  = each.value.account_id
  peer_vpc_id      = each.value.vpc_id
  peer_region      = each.value.region
  peer_cidr_blocks = each.value.cidr_blocks
  allow_cql        = true
}

data "scylladbcloud_cql_auth" "this" {
  cluster_id = scylladbcloud_cluster.this.cluster_id
  datacenter = scylladbcloud_cluster.this.datacenter
  dns        = true
}
