# The names of data center and rack that Ec2Snitch derives from a zone (ScyllaDB, locator/ec2_snitch.cc). The rack is the part of the zone
# after the last dash. The data center is the region, without "-1" if the number of the region ends in 1. So zone us-east-1a is in data
# center us-east and rack 1a, and zone us-west-2b is in data center us-west-2 and rack 2b.
locals {
  zones  = sort(keys(var.zones))
  region = substr(local.zones[0], 0, length(local.zones[0]) - 1)

  datacenter = endswith(local.region, "1") ? substr(local.region, 0, length(local.region) - 2) : local.region
  racks      = { for zone in local.zones : zone => reverse(split("-", zone))[0] }
}

# AWS reserves the first four addresses and the last address of a subnet. The other addresses below this number stay free for other
# machines.
locals {
  first_host = 10

  # Keys are "1a-0", "1a-1". A new node changes no other key, so Terraform does not change the other nodes.
  nodes = merge([
    for zone in local.zones : {
      for i in range(var.nodes_per_zone) : "${local.racks[zone]}-${i}" => {
        zone    = zone
        rack    = local.racks[zone]
        address = cidrhost(var.zones[zone], local.first_host + i)
      }
    }
  ]...)

  first_node = "${local.racks[local.zones[0]]}-0"
  seed       = coalesce(var.seed_address, local.nodes[local.first_node].address)
}
