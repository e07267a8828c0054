output "url" {
  description = "Address of the API and the dashboard."
  value       = local.public_url
}

output "load_balancer" {
  description = "What the DNS name of the API has to point at: name and hosted zone."
  value       = { dns_name = aws_lb.this.dns_name, zone_id = aws_lb.this.zone_id }
}

output "api_key_secret" {
  description = "The secret with the first key of the API: aws secretsmanager get-secret-value --secret-id …"
  value       = aws_secretsmanager_secret.api_key.arn
}

output "vault_key_secret" {
  description = "The secret with the vault key, of which a copy has to be kept."
  value       = aws_secretsmanager_secret.vault_key.arn
}

output "bucket" {
  description = "The bucket of bodies, exports and the lake."
  value       = aws_s3_bucket.this.bucket
}

output "database" {
  description = "Identifier of the database, for snapshots and restores."
  value       = aws_db_instance.this.identifier
}

output "cluster" {
  description = "The ECS cluster."
  value       = aws_ecs_cluster.this.name
}

output "log_group" {
  description = "Where the logs are."
  value       = aws_cloudwatch_log_group.this.name
}

output "nat_addresses" {
  description = "Addresses that requests come from, with egress = \"nat\"."
  value       = [for address in aws_eip.nat : address.public_ip]
}
