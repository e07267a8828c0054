# Tasks get these by reference; the values are in Secrets Manager and in the state of Terraform, which therefore belongs
# into an encrypted bucket that few may read.

resource "aws_secretsmanager_secret" "database_url" {
  name_prefix = "${var.name}/database-url-"
  description = "SCRAPIFIE_DATABASE_URL"
  tags        = local.tags
}

resource "aws_secretsmanager_secret_version" "database_url" {
  secret_id     = aws_secretsmanager_secret.database_url.id
  secret_string = "postgres://${aws_db_instance.this.username}:${random_password.database.result}@${aws_db_instance.this.endpoint}/${aws_db_instance.this.db_name}?sslmode=verify-full&sslrootcert=/certificates/database.pem"
}

resource "aws_secretsmanager_secret" "redis_url" {
  name_prefix = "${var.name}/redis-url-"
  description = "SCRAPIFIE_REDIS_URL"
  tags        = local.tags
}

resource "aws_secretsmanager_secret_version" "redis_url" {
  secret_id     = aws_secretsmanager_secret.redis_url.id
  secret_string = "rediss://:${random_password.redis.result}@${aws_elasticache_replication_group.this.primary_endpoint_address}:6379/0"
}

# What stored credentials, sessions and secrets of jobs are encrypted with. Without it they cannot be read again: a copy
# belongs where the backups of the database are not.
resource "random_bytes" "vault_key" {
  length = 32

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_secretsmanager_secret" "vault_key" {
  name_prefix = "${var.name}/vault-key-"
  description = "SCRAPIFIE_VAULT_KEY"
  tags        = local.tags
}

resource "aws_secretsmanager_secret_version" "vault_key" {
  secret_id     = aws_secretsmanager_secret.vault_key.id
  secret_string = random_bytes.vault_key.hex
}

resource "random_password" "api_key" {
  length  = 40
  special = false
}

resource "aws_secretsmanager_secret" "api_key" {
  name_prefix = "${var.name}/api-key-"
  description = "SCRAPIFIE_API_KEY, the first key of the API"
  tags        = local.tags
}

resource "aws_secretsmanager_secret_version" "api_key" {
  secret_id     = aws_secretsmanager_secret.api_key.id
  secret_string = "sk_${random_password.api_key.result}"
}
