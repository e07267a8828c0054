# What somebody has to look at, where there is a topic to tell it to. Alert rules on Scrapifie's own metrics are in
# deploy/prometheus; these are about what AWS runs.

locals {
  alarm_actions = var.alarm_topic_arn == null ? [] : [var.alarm_topic_arn]
  alarms = var.alarm_topic_arn == null ? {} : {
    no-api = {
      namespace  = "AWS/ApplicationELB"
      metric     = "HealthyHostCount"
      dimensions = { LoadBalancer = aws_lb.this.arn_suffix, TargetGroup = aws_lb_target_group.api.arn_suffix }
      statistic  = "Minimum"
      comparison = "LessThanThreshold"
      threshold  = 1
      missing    = "breaching"
      text       = "No task of the role api is ready."
    }
    database-disk = {
      namespace  = "AWS/RDS"
      metric     = "FreeStorageSpace"
      dimensions = { DBInstanceIdentifier = aws_db_instance.this.identifier }
      statistic  = "Minimum"
      comparison = "LessThanThreshold"
      threshold  = 5000000000
      missing    = "missing"
      text       = "PostgreSQL has less than 5 GB left; its disk grows by itself up to database.max_storage_gb."
    }
    database-cpu = {
      namespace  = "AWS/RDS"
      metric     = "CPUUtilization"
      dimensions = { DBInstanceIdentifier = aws_db_instance.this.identifier }
      statistic  = "Average"
      comparison = "GreaterThanThreshold"
      threshold  = 85
      missing    = "missing"
      text       = "PostgreSQL is short of CPU: see docs/scaling.md, What saturates first."
    }
    redis-memory = {
      namespace  = "AWS/ElastiCache"
      metric     = "DatabaseMemoryUsagePercentage"
      dimensions = { ReplicationGroupId = aws_elasticache_replication_group.this.id }
      statistic  = "Maximum"
      comparison = "GreaterThanThreshold"
      threshold  = 80
      missing    = "missing"
      text       = "Redis is filling up; a full one refuses offers of hosts."
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = local.alarms

  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.text
  namespace           = each.value.namespace
  metric_name         = each.value.metric
  dimensions          = each.value.dimensions
  statistic           = each.value.statistic
  comparison_operator = each.value.comparison
  threshold           = each.value.threshold
  treat_missing_data  = each.value.missing
  period              = 60
  evaluation_periods  = 5
  alarm_actions       = local.alarm_actions
  ok_actions          = local.alarm_actions
  tags                = local.tags
}
