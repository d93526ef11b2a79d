# The data is on local disks and is lost when the instance stops or terminates. So Terraform must not stop or replace an instance. A newer
# image or changed user data apply only to new nodes, because on a running node they would cause a replacement or a stop.
resource "aws_instance" "first" {
  ami                     = var.ami
  instance_type           = var.instance_type
  subnet_id               = aws_subnet.nodes[local.nodes[local.first_node].zone].id
  private_ip              = local.nodes[local.first_node].address
  vpc_security_group_ids  = [aws_security_group.this["nodes"].id]
  iam_instance_profile    = aws_iam_instance_profile.machine["node"].name
  user_data_base64        = local.user_data_base64
  disable_api_termination = true
  disable_api_stop        = true
  tags                    = { Name = "${var.name}-${local.first_node}" }

  metadata_options { http_tokens = "required" }

  root_block_device {
    encrypted = true
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [ami, user_data, user_data_base64]
  }
}

# These nodes join the first node, so the first node must start before them. A node waits five minutes for its seed (shadow_round_ms).
resource "aws_instance" "other" {
  for_each = { for name, node in local.nodes : name => node if name != local.first_node }

  ami                     = var.ami
  instance_type           = var.instance_type
  subnet_id               = aws_subnet.nodes[each.value.zone].id
  private_ip              = each.value.address
  vpc_security_group_ids  = [aws_security_group.this["nodes"].id]
  iam_instance_profile    = aws_iam_instance_profile.machine["node"].name
  user_data_base64        = local.user_data_base64
  disable_api_termination = true
  disable_api_stop        = true
  tags                    = { Name = "${var.name}-${each.key}" }

  metadata_options { http_tokens = "required" }

  root_block_device {
    encrypted = true
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [ami, user_data, user_data_base64]
  }

  depends_on = [aws_instance.first]
}

# The host of Prometheus, Alertmanager, Grafana, Loki, Alloy and Scylla Manager (docs/how-to/monitor.md). Their web pages are reachable
# through a Systems Manager session that forwards a port.
resource "aws_instance" "monitoring" {
  ami                     = var.monitoring_ami
  instance_type           = "m7i.large"
  subnet_id               = aws_subnet.application[local.first_zone].id
  vpc_security_group_ids  = [aws_security_group.this["monitoring"].id]
  iam_instance_profile    = aws_iam_instance_profile.machine["monitoring"].name
  disable_api_termination = true
  tags                    = { Name = "${var.name}-monitoring" }

  metadata_options { http_tokens = "required" }

  root_block_device {
    encrypted   = true
    volume_type = "gp3"
    volume_size = 200
  }

  lifecycle {
    ignore_changes = [ami]
  }
}
