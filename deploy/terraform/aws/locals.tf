data "aws_region" "current" {}

locals {
  region = data.aws_region.current.region
  port   = 3000
  tags   = merge({ Application = "scrapifie", Installation = var.name }, var.tags)

  zones     = { for at, zone in var.availability_zones : zone => at }
  nat_zones = var.egress == "nat" ? local.zones : {}
  task_subnets = (
    var.egress == "nat" ? [for subnet in aws_subnet.private : subnet.id] : [for subnet in aws_subnet.public : subnet.id]
  )
  listener_ports = var.certificate_arn == null ? [80] : [80, 443]
  public_url     = coalesce(var.public_url, "${var.certificate_arn == null ? "http" : "https"}://${aws_lb.this.dns_name}")

  slim_image = coalesce(var.slim_image, var.image)
  # Roles that show pages; the others need no browser.
  render_roles = ["browser-worker", "stealth-worker"]

  environment = merge({
    NODE_ENV                  = "production"
    SCRAPIFIE_HOST            = "0.0.0.0"
    SCRAPIFIE_PORT            = tostring(local.port)
    SCRAPIFIE_DATA_DIR        = "/data"
    SCRAPIFIE_S3_URL          = "https://s3.${local.region}.amazonaws.com/${aws_s3_bucket.this.bucket}?region=${local.region}&virtualHost=true"
    SCRAPIFIE_PUBLIC_URL      = local.public_url
    SCRAPIFIE_CONTACT         = var.contact
    SCRAPIFIE_TRUSTED_PROXIES = var.vpc_cidr
    SCRAPIFIE_METRICS_FROM    = "127.0.0.1"
    SCRAPIFIE_DRAIN_MS        = "30000"
  }, var.settings)

  secrets = merge({
    SCRAPIFIE_DATABASE_URL = aws_secretsmanager_secret.database_url.arn
    SCRAPIFIE_REDIS_URL    = aws_secretsmanager_secret.redis_url.arn
    SCRAPIFIE_VAULT_KEY    = aws_secretsmanager_secret.vault_key.arn
    SCRAPIFIE_API_KEY      = aws_secretsmanager_secret.api_key.arn
  }, var.secret_settings)
}
