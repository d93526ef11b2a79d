# Permissions of the machines in the AWS account. Systems Manager needs these actions for sessions and commands. Its agents before version
# 3.3 receive commands through ec2messages. The policy AmazonSSMManagedInstanceCore is not used, because it lets every node read every
# parameter of the account.
data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "sessions" {
  statement {
    sid = "Sessions"
    actions = [
      "ssm:UpdateInstanceInformation",
      "ssmmessages:CreateControlChannel",
      "ssmmessages:CreateDataChannel",
      "ssmmessages:OpenControlChannel",
      "ssmmessages:OpenDataChannel",
      "ec2messages:AcknowledgeMessage",
      "ec2messages:DeleteMessage",
      "ec2messages:FailMessage",
      "ec2messages:GetEndpoint",
      "ec2messages:GetMessages",
      "ec2messages:SendReply",
    ]
    # These actions have no resource, so IAM accepts only "*".
    resources = ["*"]
  }
}

# The permissions that the documentation of ScyllaDB Manager lists for its agent.
data "aws_iam_policy_document" "backups" {
  statement {
    sid = "BackupBucket"
    actions = [
      "s3:GetBucketLocation",
      "s3:ListBucket",
      "s3:ListBucketMultipartUploads",
    ]
    resources = [aws_s3_bucket.backups.arn]
  }

  statement {
    sid = "BackupObjects"
    actions = [
      "s3:PutObject",
      "s3:GetObject",
      "s3:DeleteObject",
      "s3:AbortMultipartUpload",
      "s3:ListMultipartUploadParts",
    ]
    resources = ["${aws_s3_bucket.backups.arn}/*"]
  }
}

data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

# Parameter Store encrypts the token with the default key of the account, which needs no further permission.
data "aws_iam_policy_document" "agent_token" {
  statement {
    sid       = "ManagerAgentToken"
    actions   = ["ssm:GetParameter"]
    resources = ["arn:${data.aws_partition.current.partition}:ssm:${var.region}:${data.aws_caller_identity.current.account_id}:parameter${local.manager_agent_token}"]
  }
}

locals {
  manager_agent_token = "/${var.name}/manager-agent-token"

  machines = toset(["node", "monitoring"])
}

resource "aws_iam_role" "machine" {
  for_each = local.machines

  name               = "${var.name}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

resource "aws_iam_role_policy" "sessions" {
  for_each = local.machines

  name   = "sessions"
  role   = aws_iam_role.machine[each.key].id
  policy = data.aws_iam_policy_document.sessions.json
}

resource "aws_iam_role_policy" "node" {
  for_each = {
    backups     = data.aws_iam_policy_document.backups.json
    agent-token = data.aws_iam_policy_document.agent_token.json
  }

  name   = each.key
  role   = aws_iam_role.machine["node"].id
  policy = each.value
}

resource "aws_iam_instance_profile" "machine" {
  for_each = local.machines

  name = "${var.name}-${each.key}"
  role = aws_iam_role.machine[each.key].name
}
