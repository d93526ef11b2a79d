data "aws_ec2_instance_type" "node" {
  instance_type = var.instance_type
}

module "bootstrap" {
  source = "../scylla-bootstrap"

  cluster_name              = var.name
  zones                     = { for zone, subnets in local.zones : zone => subnets.nodes }
  nodes_per_zone            = var.nodes_per_zone
  seed_address              = var.seed_address
  scylla_yaml               = var.scylla_yaml
  superuser_salted_password = var.superuser_salted_password
  keyspace                  = var.keyspace
  license                   = var.license
  vcpus_per_node            = data.aws_ec2_instance_type.node.default_vcpus
  storage_gb_per_node       = data.aws_ec2_instance_type.node.total_instance_storage
  other_vcpus               = var.other_vcpus
  other_storage_gb          = var.other_storage_gb
}

# The data is on local disks and is lost when the instance stops or terminates. So Terraform must not stop or replace an instance. A newer
# image or changed user data apply only to new nodes, because on a running node they would cause a replacement or a stop.
resource "aws_instance" "first" {
  ami                     = var.ami
  instance_type           = var.instance_type
  subnet_id               = aws_subnet.nodes[module.bootstrap.nodes[module.bootstrap.first_node].zone].id
  private_ip              = module.bootstrap.nodes[module.bootstrap.first_node].address
  vpc_security_group_ids  = [aws_security_group.this["nodes"].id]
  iam_instance_profile    = aws_iam_instance_profile.machine["node"].name
  user_data_base64        = module.bootstrap.user_data_base64
  disable_api_termination = true
  disable_api_stop        = true
  tags                    = merge(local.tags, { Name = "${var.name}-${module.bootstrap.first_node}" })

  metadata_options {
    http_tokens = "required"
  }

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
  for_each = { for name, node in module.bootstrap.nodes : name => node if name != module.bootstrap.first_node }

  ami                     = var.ami
  instance_type           = var.instance_type
  subnet_id               = aws_subnet.nodes[each.value.zone].id
  private_ip              = each.value.address
  vpc_security_group_ids  = [aws_security_group.this["nodes"].id]
  iam_instance_profile    = aws_iam_instance_profile.machine["node"].name
  user_data_base64        = module.bootstrap.user_data_base64
  disable_api_termination = true
  disable_api_stop        = true
  tags                    = merge(local.tags, { Name = "${var.name}-${each.key}" })

  metadata_options {
    http_tokens = "required"
  }

  root_block_device {
    encrypted = true
  }

  lifecycle {
    prevent_destroy = true
    ignore_changes  = [ami, user_data, user_data_base64]
  }

  depends_on = [aws_instance.first]
}
