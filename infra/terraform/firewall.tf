# The connections that are allowed. Each rule for incoming connections names a security group or a network as source, never all addresses.

# AWS gives this default group to an instance without another group. It has no rule, so no connection is possible.
resource "aws_default_security_group" "nobody" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-nobody" }
}

resource "aws_security_group" "this" {
  for_each = local.groups

  name        = "${var.name}-${each.key}"
  description = each.value
  vpc_id      = aws_vpc.this.id
  tags        = { Name = "${var.name}-${each.key}" }
}

resource "aws_vpc_security_group_ingress_rule" "inside" {
  for_each = local.ways_in

  security_group_id            = aws_security_group.this[each.value.to].id
  referenced_security_group_id = aws_security_group.this[each.value.from].id
  description                  = each.key
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
}

resource "aws_vpc_security_group_ingress_rule" "outside" {
  for_each = local.outside

  security_group_id = aws_security_group.this["nodes"].id
  cidr_ipv4         = each.value.cidr
  description       = "CQL of the application outside"
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
}

# By default AWS lets a new group open any outbound connection, but Terraform removes this rule. These rules allow the necessary
# connections.
resource "aws_vpc_security_group_egress_rule" "outward" {
  for_each = local.ways_out

  security_group_id = aws_security_group.this[each.value.group].id
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Out of this network: ${each.key}"
  ip_protocol       = each.value.protocol
  from_port         = each.value.port
  to_port           = each.value.port
}

resource "aws_vpc_security_group_egress_rule" "inside" {
  for_each = local.groups

  security_group_id = aws_security_group.this[each.key].id
  cidr_ipv4         = var.cidr_block
  description       = "Everything in this network"
  ip_protocol       = "-1"
}

# Ports, and the security groups that may connect to them.
locals {
  groups = {
    nodes      = "Nodes of ScyllaDB"
    clients    = "The application: its members may use CQL on the nodes"
    monitoring = "The monitoring host"
  }

  cql_ports = {
    plain            = 9042
    tls              = 9142
    plain-shard-wise = 19042
    tls-shard-wise   = 19142
  }

  node_ports = {
    gossip     = 7000
    gossip-tls = 7001
  }

  # Scylla Manager on the monitoring host also checks over CQL that nodes answer.
  monitoring_ports = merge(local.cql_ports, {
    metrics      = 9180
    host-metrics = 9100
    agent        = 10001
  })

  # The application serves metrics on its HTTP port (HTTP_PORT). Nodes send their log by syslog over TLS (infra/monitoring/rsyslog).
  ways_in = merge([for way in [
    { from = "nodes", to = "nodes", ports = local.node_ports },
    { from = "clients", to = "nodes", ports = local.cql_ports },
    { from = "monitoring", to = "nodes", ports = local.monitoring_ports },
    { from = "monitoring", to = "clients", ports = { metrics = 8080 } },
    { from = "nodes", to = "monitoring", ports = { logs = 6514 } },
    ] : { for name, port in way.ports : "${way.from} to ${way.to}: ${name}" => {
      from = way.from
      to   = way.to
      port = port
  } }]...)

  # Outbound connections: Systems Manager and S3 (https), signed packages from mirrors without TLS (http), and the clock (ntp),
  # which the database and the application need.
  outward_ports = {
    https = { protocol = "tcp", port = 443 }
    http  = { protocol = "tcp", port = 80 }
    ntp   = { protocol = "udp", port = 123 }
  }
  ways_out = { for pair in setproduct(["nodes", "monitoring"], keys(local.outward_ports)) : "${pair[0]} ${pair[1]}" => merge(
    { group = pair[0] }, local.outward_ports[pair[1]]
  ) }

  # Each client network outside the VPC, with each port of CQL.
  outside = { for pair in setproduct(var.client_cidr_blocks, keys(local.cql_ports)) : "${pair[0]} ${pair[1]}" => {
    cidr = pair[0]
    port = local.cql_ports[pair[1]]
  } }
}
