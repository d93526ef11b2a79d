# Who may open a connection to whom. Each rule names a group or a network, never everybody.

# What nobody put into a group is in this one, and it has no rule.
resource "aws_default_security_group" "nobody" {
  vpc_id = aws_vpc.this.id
  tags   = merge(local.tags, { Name = "${var.name}-nobody" })
}

resource "aws_security_group" "nodes" {
  name        = "${var.name}-nodes"
  description = "Nodes of ScyllaDB"
  vpc_id      = aws_vpc.this.id
  tags        = merge(local.tags, { Name = "${var.name}-nodes" })
}

resource "aws_security_group" "clients" {
  name        = "${var.name}-clients"
  description = "The application: whoever is in it may speak CQL to the nodes"
  vpc_id      = aws_vpc.this.id
  tags        = merge(local.tags, { Name = "${var.name}-clients" })
}

resource "aws_security_group" "monitoring" {
  name        = "${var.name}-monitoring"
  description = "The monitoring host"
  vpc_id      = aws_vpc.this.id
  tags        = merge(local.tags, { Name = "${var.name}-monitoring" })
}

resource "aws_vpc_security_group_ingress_rule" "node_to_node" {
  for_each = local.node_ports

  security_group_id            = aws_security_group.nodes.id
  referenced_security_group_id = aws_security_group.nodes.id
  description                  = "Nodes among themselves: ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = each.value
  to_port                      = each.value
}

resource "aws_vpc_security_group_ingress_rule" "client_to_node" {
  for_each = local.cql_ports

  security_group_id            = aws_security_group.nodes.id
  referenced_security_group_id = aws_security_group.clients.id
  description                  = "CQL of the application: ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = each.value
  to_port                      = each.value
}

resource "aws_vpc_security_group_ingress_rule" "outside_client_to_node" {
  for_each = local.outside

  security_group_id = aws_security_group.nodes.id
  cidr_ipv4         = each.value.cidr
  description       = "CQL of the application outside"
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
}

resource "aws_vpc_security_group_ingress_rule" "monitoring_to_node" {
  for_each = local.monitoring_ports

  security_group_id            = aws_security_group.nodes.id
  referenced_security_group_id = aws_security_group.monitoring.id
  description                  = "Monitoring and Scylla Manager: ${each.key}"
  ip_protocol                  = "tcp"
  from_port                    = each.value
  to_port                      = each.value
}

# The application's metrics are on its HTTP port (HTTP_PORT).
resource "aws_vpc_security_group_ingress_rule" "monitoring_to_client" {
  security_group_id            = aws_security_group.clients.id
  referenced_security_group_id = aws_security_group.monitoring.id
  description                  = "Metrics of the application"
  ip_protocol                  = "tcp"
  from_port                    = 8080
  to_port                      = 8080
}

# Nodes send their log by syslog over TLS (infra/monitoring/rsyslog).
resource "aws_vpc_security_group_ingress_rule" "node_to_monitoring" {
  security_group_id            = aws_security_group.monitoring.id
  referenced_security_group_id = aws_security_group.nodes.id
  description                  = "Logs of the nodes"
  ip_protocol                  = "tcp"
  from_port                    = 6514
  to_port                      = 6514
}

# Terraform takes away the rule by which a new group lets everything out; what is needed is put back.
resource "aws_vpc_security_group_egress_rule" "outward" {
  for_each = local.ways_out

  security_group_id = { nodes = aws_security_group.nodes.id, monitoring = aws_security_group.monitoring.id }[each.value.group]
  cidr_ipv4         = "0.0.0.0/0"
  description       = "Out of this network: ${each.key}"
  ip_protocol       = each.value.protocol
  from_port         = each.value.port
  to_port           = each.value.port
}

resource "aws_vpc_security_group_egress_rule" "inside" {
  for_each = {
    nodes      = aws_security_group.nodes.id
    clients    = aws_security_group.clients.id
    monitoring = aws_security_group.monitoring.id
  }

  security_group_id = each.value
  cidr_ipv4         = var.cidr_block
  description       = "Everything in this network"
  ip_protocol       = "-1"
}
