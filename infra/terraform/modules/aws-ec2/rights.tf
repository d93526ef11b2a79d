# What the machines may do in the account. Systems Manager needs these actions for sessions and for commands (an agent before 3.3
# gets commands by ec2messages), and AmazonSSMManagedInstanceCore would let every node read every parameter of the account besides.
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
    # These actions know no resource: IAM takes "*" alone.
    resources = ["*"]
  }
}

# As ScyllaDB Manager's documentation asks for its agent.
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

resource "aws_iam_role" "node" {
  name               = "${var.name}-node"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "node_sessions" {
  name   = "sessions"
  role   = aws_iam_role.node.id
  policy = data.aws_iam_policy_document.sessions.json
}

resource "aws_iam_role_policy" "node_backups" {
  name   = "backups"
  role   = aws_iam_role.node.id
  policy = data.aws_iam_policy_document.backups.json
}

resource "aws_iam_instance_profile" "node" {
  name = "${var.name}-node"
  role = aws_iam_role.node.name
  tags = local.tags
}

resource "aws_iam_role" "monitoring" {
  name               = "${var.name}-monitoring"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "monitoring_sessions" {
  name   = "sessions"
  role   = aws_iam_role.monitoring.id
  policy = data.aws_iam_policy_document.sessions.json
}

resource "aws_iam_instance_profile" "monitoring" {
  name = "${var.name}-monitoring"
  role = aws_iam_role.monitoring.name
  tags = local.tags
}
