# One service per role, all of the same program.

resource "aws_cloudwatch_log_group" "this" {
  name              = "/scrapifie/${var.name}"
  retention_in_days = var.log_days
  tags              = local.tags
}

resource "aws_ecs_cluster" "this" {
  name = var.name
  tags = local.tags

  # Counts running tasks, which the scaling by waiting hosts divides by.
  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_ecs_cluster_capacity_providers" "this" {
  cluster_name       = aws_ecs_cluster.this.name
  capacity_providers = ["FARGATE", "FARGATE_SPOT"]
}

locals {
  mounts = { data = "/data", temporary = "/tmp", certificates = "/certificates" }

  # Runs before the program: makes the folders that it writes to, on a file system that is read-only otherwise.
  prepare = {
    name       = "prepare"
    essential  = false
    user       = "0"
    entryPoint = ["sh", "-euc"]
    command = [
      "printf '%s' \"$DATABASE_CA\" >/certificates/database.pem && chown 1000:1000 /data && chmod 0750 /data && chmod 1777 /tmp"
    ]
    environment            = [{ name = "DATABASE_CA", value = data.http.database_ca.response_body }]
    readonlyRootFilesystem = true
    mountPoints            = [for name, path in local.mounts : { sourceVolume = name, containerPath = path, readOnly = false }]
  }

  # A task has one limit of memory for all its containers, which the program cannot see: half of it is for the heap.
  heap = {
    for role, service in var.services : role => { NODE_OPTIONS = "--max-old-space-size=${min(1024, service.memory / 2)}" }
  }

  # Fargate lets no process make namespaces, so that Chromium has no sandbox there; but each task is a virtual machine of its own.
  consent = {
    for role in local.render_roles : role => { SCRAPIFIE_UNCONFINED_BROWSERS = "true" }
  }

  health_check = "fetch('http://127.0.0.1:${local.port}/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"
}

resource "aws_ecs_task_definition" "this" {
  for_each = var.services

  family                   = "${var.name}-${each.key}"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = each.value.cpu
  memory                   = each.value.memory
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = each.key == "scheduler" ? aws_iam_role.scheduler.arn : aws_iam_role.task.arn
  tags                     = local.tags

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = var.cpu_architecture
  }

  dynamic "volume" {
    for_each = local.mounts

    content {
      name = volume.key
    }
  }

  container_definitions = jsonencode(concat(
    [
      merge(local.prepare, {
        image            = contains(local.render_roles, each.key) ? var.image : local.slim_image
        logConfiguration = local.log_configuration["prepare"]
      }),
      {
        name      = "scrapifie"
        image     = contains(local.render_roles, each.key) ? var.image : local.slim_image
        essential = true
        dependsOn = [{ containerName = "prepare", condition = "SUCCESS" }]
        environment = [
          for name, value in merge(local.heap[each.key], local.environment, lookup(local.consent, each.key, {}), each.value.environment, { SCRAPIFIE_ROLE = each.key }) :
          { name = name, value = value }
        ]
        secrets                = [for name, arn in local.secrets : { name = name, valueFrom = arn }]
        portMappings           = [{ containerPort = local.port, protocol = "tcp" }]
        mountPoints            = [for name, path in local.mounts : { sourceVolume = name, containerPath = path, readOnly = name == "certificates" }]
        readonlyRootFilesystem = true
        linuxParameters        = { capabilities = { drop = ["ALL"] } }
        # The program gets SCRAPIFIE_DRAIN_MS to end what is under way, then it is killed.
        stopTimeout = 60
        healthCheck = {
          command     = ["CMD", "node", "--eval", local.health_check]
          interval    = 10
          timeout     = 5
          retries     = 3
          # Migrations of a large database run in the start; the first good answer ends this time. ECS allows no longer one.
          startPeriod = 300
        }
        logConfiguration = local.log_configuration[each.key]
      }
    ],
    each.key == "scheduler" ? [local.collector] : []
  ))
}

locals {
  log_configuration = {
    for stream in concat(["prepare", "collector"], keys(var.services)) : stream => {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this.name
        awslogs-region        = local.region
        awslogs-stream-prefix = stream
      }
    }
  }
}

resource "aws_ecs_service" "this" {
  for_each = var.services

  name            = each.key
  cluster         = aws_ecs_cluster.this.id
  task_definition = aws_ecs_task_definition.this[each.key].arn
  desired_count   = each.value.min
  propagate_tags  = "SERVICE"
  tags            = local.tags

  # A new version is rolled out task by task, and taken back when its tasks do not become healthy.
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200
  wait_for_steady_state              = true

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  # Tasks on Spot are told to stop two minutes before; what they had claimed is done again by others.
  capacity_provider_strategy {
    capacity_provider = each.value.spot ? "FARGATE_SPOT" : "FARGATE"
    weight            = 1
  }

  network_configuration {
    subnets          = local.task_subnets
    security_groups  = each.key == "api" ? [aws_security_group.tasks.id, aws_security_group.api.id] : [aws_security_group.tasks.id]
    assign_public_ip = var.egress == "public-ip"
  }

  dynamic "load_balancer" {
    for_each = each.key == "api" ? [aws_lb_target_group.api.arn] : []

    content {
      target_group_arn = load_balancer.value
      container_name   = "scrapifie"
      container_port   = local.port
    }
  }

  health_check_grace_period_seconds = each.key == "api" ? 300 : null

  lifecycle {
    # Auto scaling changes it.
    ignore_changes = [desired_count]
  }

  depends_on = [
    aws_ecs_cluster_capacity_providers.this,
    aws_lb_listener.http,
    aws_lb_listener.https,
    aws_secretsmanager_secret_version.database_url,
    aws_secretsmanager_secret_version.redis_url,
    aws_secretsmanager_secret_version.vault_key,
    aws_secretsmanager_secret_version.api_key,
    aws_iam_role_policy.execution,
    aws_iam_role_policy.task_bucket,
    aws_iam_role_policy.scheduler_bucket,
  ]
}
