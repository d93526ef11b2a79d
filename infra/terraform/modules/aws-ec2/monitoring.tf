# The host of Prometheus, Alertmanager, Grafana, Loki, Alloy and Scylla Manager. infra/monitoring and infra/operations install them. Their
# web pages are reachable through a Systems Manager session that forwards a port.
resource "aws_instance" "monitoring" {
  ami                     = var.monitoring_ami
  instance_type           = var.monitoring_instance_type
  subnet_id               = aws_subnet.application[local.first_zone].id
  vpc_security_group_ids  = [aws_security_group.this["monitoring"].id]
  iam_instance_profile    = aws_iam_instance_profile.machine["monitoring"].name
  disable_api_termination = true
  tags                    = merge(local.tags, { Name = "${var.name}-monitoring" })

  metadata_options {
    http_tokens = "required"
  }

  root_block_device {
    encrypted   = true
    volume_type = "gp3"
    volume_size = var.monitoring_disk_gb
  }

  lifecycle {
    ignore_changes = [ami]
  }
}
