resource "random_password" "database" {
  length  = 32
  special = false
}

resource "aws_db_subnet_group" "this" {
  name       = var.name
  subnet_ids = [for subnet in aws_subnet.private : subnet.id]
  tags       = local.tags
}

resource "aws_db_parameter_group" "this" {
  name_prefix = "${var.name}-"
  family      = "postgres${split(".", var.database.engine_version)[0]}"
  tags        = local.tags

  parameter {
    name  = "rds.force_ssl"
    value = "1"
  }

  # The values that docs/scaling.md recommends: few checkpoints, and a disk that finds pages as fast in any order.
  dynamic "parameter" {
    for_each = { max_wal_size = "8192", checkpoint_timeout = "900", random_page_cost = "1.1" }

    content {
      name  = parameter.key
      value = parameter.value
    }
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_db_instance" "this" {
  identifier     = var.name
  engine         = "postgres"
  engine_version = var.database.engine_version
  instance_class = var.database.instance_class

  db_name  = "scrapifie"
  username = "scrapifie"
  password = random_password.database.result

  allocated_storage     = var.database.storage_gb
  max_allocated_storage = var.database.max_storage_gb
  storage_type          = "gp3"
  storage_encrypted     = true

  multi_az               = var.database.multi_az
  db_subnet_group_name   = aws_db_subnet_group.this.name
  vpc_security_group_ids = [aws_security_group.database.id]
  parameter_group_name   = aws_db_parameter_group.this.name
  publicly_accessible    = false
  ca_cert_identifier     = "rds-ca-rsa2048-g1"

  backup_retention_period    = var.database.backup_days
  copy_tags_to_snapshot      = true
  auto_minor_version_upgrade = true
  deletion_protection        = var.database.deletion_protection
  skip_final_snapshot        = !var.database.deletion_protection
  final_snapshot_identifier  = "${var.name}-final"

  tags = local.tags
}

# The certificates that RDS of this region is signed with; tasks accept no others.
data "http" "database_ca" {
  url = "https://truststore.pki.rds.amazonaws.com/${local.region}/${local.region}-bundle.pem"

  lifecycle {
    postcondition {
      condition     = self.status_code == 200 && startswith(self.response_body, "-----BEGIN CERTIFICATE-----")
      error_message = "The certificates of RDS in this region could not be fetched."
    }
  }
}
