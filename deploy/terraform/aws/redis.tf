resource "random_password" "redis" {
  length  = 32
  special = false
}

resource "aws_elasticache_subnet_group" "this" {
  name       = var.name
  subnet_ids = [for subnet in aws_subnet.private : subnet.id]
  tags       = local.tags
}

# Scrapifie does not start on a Redis that throws keys away when its memory is full.
resource "aws_elasticache_parameter_group" "this" {
  name   = var.name
  family = "redis7"
  tags   = local.tags

  parameter {
    name  = "maxmemory-policy"
    value = "noeviction"
  }
}

resource "aws_elasticache_replication_group" "this" {
  replication_group_id = var.name
  description          = "Queues and events of ${var.name}"
  engine               = "redis"
  engine_version       = "7.1"
  node_type            = var.redis.node_type
  port                 = 6379

  num_cache_clusters         = 1 + var.redis.replicas
  automatic_failover_enabled = var.redis.replicas > 0
  multi_az_enabled           = var.redis.replicas > 0

  subnet_group_name    = aws_elasticache_subnet_group.this.name
  security_group_ids   = [aws_security_group.redis.id]
  parameter_group_name = aws_elasticache_parameter_group.this.name

  at_rest_encryption_enabled = true
  transit_encryption_enabled = true
  auth_token                 = random_password.redis.result

  snapshot_retention_limit   = 0
  auto_minor_version_upgrade = true
  apply_immediately          = true
  tags                       = local.tags
}
