# ECS itself uses the execution role to start tasks; the program has the task role, and the scheduler one that may also
# write the metrics that services are scaled by.

data "aws_iam_policy_document" "assumed_by_tasks" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ecs-tasks.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "execution" {
  name_prefix        = "${var.name}-execution-"
  assume_role_policy = data.aws_iam_policy_document.assumed_by_tasks.json
  tags               = local.tags
}

data "aws_iam_policy_document" "execution" {
  statement {
    sid       = "Logs"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.this.arn}:*"]
  }

  statement {
    sid       = "Secrets"
    actions   = ["secretsmanager:GetSecretValue", "ssm:GetParameters"]
    resources = values(local.secrets)
  }

  # Only images in ECR need this; those of public registries are pulled without rights.
  statement {
    sid       = "ImagesLogin"
    actions   = ["ecr:GetAuthorizationToken"]
    resources = ["*"]
  }

  statement {
    sid       = "Images"
    actions   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    resources = ["arn:aws:ecr:${local.region}:*:repository/*scrapifie*"]
  }
}

resource "aws_iam_role_policy" "execution" {
  name   = "execution"
  role   = aws_iam_role.execution.id
  policy = data.aws_iam_policy_document.execution.json
}

data "aws_iam_policy_document" "bucket" {
  statement {
    sid       = "Objects"
    actions   = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
    resources = ["${aws_s3_bucket.this.arn}/*"]
  }

  statement {
    sid       = "List"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.this.arn]
  }
}

resource "aws_iam_role" "task" {
  name_prefix        = "${var.name}-task-"
  assume_role_policy = data.aws_iam_policy_document.assumed_by_tasks.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "task_bucket" {
  name   = "bucket"
  role   = aws_iam_role.task.id
  policy = data.aws_iam_policy_document.bucket.json
}

resource "aws_iam_role" "scheduler" {
  name_prefix        = "${var.name}-scheduler-"
  assume_role_policy = data.aws_iam_policy_document.assumed_by_tasks.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "scheduler_bucket" {
  name   = "bucket"
  role   = aws_iam_role.scheduler.id
  policy = data.aws_iam_policy_document.bucket.json
}

data "aws_iam_policy_document" "metrics" {
  statement {
    sid       = "MetricsInLogs"
    actions   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.metrics.arn}:*"]
  }
}

resource "aws_iam_role_policy" "scheduler_metrics" {
  name   = "metrics"
  role   = aws_iam_role.scheduler.id
  policy = data.aws_iam_policy_document.metrics.json
}
