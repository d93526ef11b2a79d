# Names of data center and racks as Ec2Snitch derives them from a zone (ScyllaDB, locator/ec2_snitch.cc). The rack is the part of the zone
# after the last dash. The data center is the region, without "-1" if the number of the region ends in 1. So zone us-east-1a is in data
# center us-east and rack 1a, and zone us-west-2b is in data center us-west-2 and rack 2b.
locals {
  datacenter = endswith(var.region, "1") ? substr(var.region, 0, length(var.region) - 2) : var.region

  zones = { for i, suffix in sort(var.zone_suffixes) : "${var.region}${suffix}" => {
    rack        = reverse(split("-", "${var.region}${suffix}"))[0]
    nodes       = cidrsubnet(var.cidr_block, 4, i)
    application = cidrsubnet(var.cidr_block, 4, i + 4)
  } }
  first_zone = keys(local.zones)[0]

  # Keys are "1a-0", "1a-1". A new node changes no other key, so Terraform does not change the other nodes. AWS reserves the first four
  # addresses of a subnet; the others below the tenth stay free for other machines.
  nodes = merge([
    for zone, subnets in local.zones : {
      for i in range(var.nodes_per_zone) : "${subnets.rack}-${i}" => {
        zone    = zone
        rack    = subnets.rack
        address = cidrhost(subnets.nodes, 10 + i)
      }
    }
  ]...)
  first_node = "${local.zones[local.first_zone].rack}-0"

  # With TLS, ScyllaDB encrypts the default port, unless native_transport_port_ssl names another port.
  has_tls  = try(tobool(var.scylla_yaml.client_encryption_options.enabled), false)
  cql_port = local.has_tls ? try(var.scylla_yaml.native_transport_port_ssl, 9042) : 9042
}

# User data in JSON that ScyllaDB's image reads on its first boot (scylla-machine-image, common/scylla_configure.py). The image itself sets
# the addresses, rpc_address and other defaults.
locals {
  scylla_yaml = merge(var.scylla_yaml, {
    cluster_name    = var.name
    endpoint_snitch = "Ec2Snitch"
    seed_provider = [{
      class_name = "org.apache.cassandra.locator.SimpleSeedProvider"
      parameters = [{ seeds = coalesce(var.seed_address, local.nodes[local.first_node].address) }]
    }]

    # These settings prevent a default password (up to 2026.1), and create the superuser (from 2026.2).
    authenticator                  = "PasswordAuthenticator"
    authorizer                     = "CassandraAuthorizer"
    auth_superuser_name            = "millrace"
    auth_superuser_salted_password = var.superuser_salted_password
  })

  # The image masks its Systems Manager agent (packer/scylla_install_image). Without these commands nobody could log in, because no port
  # for SSH is open.
  let_session_manager_in = <<-SH
    systemctl unmask amazon-ssm-agent
    systemctl enable amazon-ssm-agent
    systemctl start --no-block amazon-ssm-agent
  SH

  user_data_base64 = base64encode(jsonencode({
    scylla_yaml                = local.scylla_yaml
    start_scylla_on_first_boot = true
    data_device                = "instance_store"
    raid_level                 = 0
    post_configuration_script  = base64encode(local.let_session_manager_in)
  }))
}
