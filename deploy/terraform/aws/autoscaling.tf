# Services grow by their CPU, workers also by the work that waits for them. A service grows when either asks for it and
# shrinks when both allow it.

resource "aws_cloudwatch_log_group" "metrics" {
  name              = "/scrapifie/${var.name}/metrics"
  retention_in_days = 7
  tags              = local.tags
}

locals {
  metric_namespace = "Scrapifie/${var.name}"

  # Beside the scheduler: reads what the whole fleet has waiting, and writes it as metrics of CloudWatch. Metrics of a
  # single process are not among them; Prometheus is the tool for those.
  collector = {
    name              = "collector"
    image             = var.collector_image
    essential         = false
    memoryReservation = 128
    environment       = [{ name = "AOT_CONFIG_CONTENT", value = yamlencode(local.collector_config) }]
    logConfiguration  = local.log_configuration["collector"]
  }

  collector_config = {
    receivers = {
      prometheus = {
        config = {
          scrape_configs = [{
            job_name        = "scheduler"
            scrape_interval = "30s"
            static_configs  = [{ targets = ["127.0.0.1:${local.port}"] }]
            metric_relabel_configs = [{
              source_labels = ["__name__"]
              regex         = "scrapifie_queue_depth"
              action        = "keep"
            }]
          }]
        }
      }
    }
    exporters = {
      awsemf = {
        namespace               = local.metric_namespace
        log_group_name          = aws_cloudwatch_log_group.metrics.name
        dimension_rollup_option = "NoDimensionRollup"
        metric_declarations = [{
          dimensions            = [["queue"]]
          metric_name_selectors = ["^scrapifie_queue_depth$"]
        }]
      }
    }
    service = {
      pipelines = { metrics = { receivers = ["prometheus"], exporters = ["awsemf"] } }
    }
  }

  scaled = { for role, service in var.services : role => service if service.max > service.min }

  # What the metric calls the work of each role.
  queues        = { http-worker = "http", browser-worker = "browser", stealth-worker = "stealth" }
  queued_scaled = { for role, queue in local.queues : role => queue if contains(keys(local.scaled), role) }
}

resource "aws_appautoscaling_target" "this" {
  for_each = local.scaled

  service_namespace  = "ecs"
  resource_id        = "service/${aws_ecs_cluster.this.name}/${aws_ecs_service.this[each.key].name}"
  scalable_dimension = "ecs:service:DesiredCount"
  min_capacity       = each.value.min
  max_capacity       = each.value.max
  tags               = local.tags
}

resource "aws_appautoscaling_policy" "cpu" {
  for_each = local.scaled

  name               = "${var.name}-${each.key}-cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this[each.key].service_namespace
  resource_id        = aws_appautoscaling_target.this[each.key].resource_id
  scalable_dimension = aws_appautoscaling_target.this[each.key].scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value       = var.cpu_target_percent
    scale_out_cooldown = 60
    scale_in_cooldown  = 300

    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}

resource "aws_appautoscaling_policy" "waiting" {
  for_each = local.queued_scaled

  name               = "${var.name}-${each.key}-waiting"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this[each.key].service_namespace
  resource_id        = aws_appautoscaling_target.this[each.key].resource_id
  scalable_dimension = aws_appautoscaling_target.this[each.key].scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value       = var.waiting_per_worker[each.value]
    scale_out_cooldown = 60
    scale_in_cooldown  = 300

    customized_metric_specification {
      metrics {
        id          = "waiting"
        return_data = false

        metric_stat {
          stat = "Average"

          metric {
            namespace   = local.metric_namespace
            metric_name = "scrapifie_queue_depth"

            dimensions {
              name  = "queue"
              value = each.value
            }
          }
        }
      }

      metrics {
        id          = "workers"
        return_data = false

        metric_stat {
          stat = "Average"

          metric {
            namespace   = "ECS/ContainerInsights"
            metric_name = "RunningTaskCount"

            dimensions {
              name  = "ClusterName"
              value = aws_ecs_cluster.this.name
            }

            dimensions {
              name  = "ServiceName"
              value = aws_ecs_service.this[each.key].name
            }
          }
        }
      }

      metrics {
        id          = "waiting_per_worker"
        expression  = "waiting / IF(workers < 1, 1, workers)"
        return_data = true
      }
    }
  }
}
