# Who may open connections to whom. Roles do not call each other: they meet in PostgreSQL, Redis and S3.

resource "aws_security_group" "load_balancer" {
  name        = "${var.name}-load-balancer"
  description = "Clients to the load balancer"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = { for pair in setproduct(var.allowed_cidrs, local.listener_ports) : "${pair[0]} ${pair[1]}" => pair }

  security_group_id = aws_security_group.load_balancer.id
  cidr_ipv4         = each.value[0]
  from_port         = each.value[1]
  to_port           = each.value[1]
  ip_protocol       = "tcp"
}

resource "aws_vpc_security_group_egress_rule" "load_balancer_to_api" {
  security_group_id            = aws_security_group.load_balancer.id
  referenced_security_group_id = aws_security_group.api.id
  from_port                    = local.port
  to_port                      = local.port
  ip_protocol                  = "tcp"
}

resource "aws_security_group" "api" {
  name        = "${var.name}-api"
  description = "The load balancer to tasks of the role api"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "load_balancer_to_api" {
  security_group_id            = aws_security_group.api.id
  referenced_security_group_id = aws_security_group.load_balancer.id
  from_port                    = local.port
  to_port                      = local.port
  ip_protocol                  = "tcp"
}

# Every task has this group: nothing comes in, and all of the internet can be reached, for that is what is crawled. The
# program itself refuses private addresses and those where AWS gives out credentials.
resource "aws_security_group" "tasks" {
  name        = "${var.name}-tasks"
  description = "Tasks of all roles"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags
}

resource "aws_vpc_security_group_egress_rule" "tasks" {
  security_group_id = aws_security_group.tasks.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
}

resource "aws_security_group" "database" {
  name        = "${var.name}-database"
  description = "Tasks to PostgreSQL"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "tasks_to_database" {
  security_group_id            = aws_security_group.database.id
  referenced_security_group_id = aws_security_group.tasks.id
  from_port                    = 5432
  to_port                      = 5432
  ip_protocol                  = "tcp"
}

resource "aws_security_group" "redis" {
  name        = "${var.name}-redis"
  description = "Tasks to Redis"
  vpc_id      = aws_vpc.this.id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "tasks_to_redis" {
  security_group_id            = aws_security_group.redis.id
  referenced_security_group_id = aws_security_group.tasks.id
  from_port                    = 6379
  to_port                      = 6379
  ip_protocol                  = "tcp"
}
