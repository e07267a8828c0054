# The image that this one is built on; releases name it by its digest: docs/security.md, "Supply chain".
ARG NODE_IMAGE=node:24-slim

# docker build --tag scrapifie .
# docker run --publish 3000:3000 --volume scrapifie-data:/data scrapifie

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM ${NODE_IMAGE} AS dashboard
WORKDIR /app/dashboard
COPY dashboard/package.json dashboard/package-lock.json dashboard/.npmrc ./
RUN npm ci --ignore-scripts
COPY dashboard ./
RUN npm run build

FROM ${NODE_IMAGE}
# Chromium renders pages; the fonts are for those that bring none, and tini buries the processes that browsers leave.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    chromium fonts-liberation fonts-noto-cjk fonts-noto-color-emoji tini \
  && rm -rf /var/lib/apt/lists/* \
  # Where containers may not make namespaces of their own, Chromium's sandbox cannot work: the container is it then.
  && echo 'unshare --user true 2>/dev/null || CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox"' >/etc/chromium.d/container
ENV NODE_ENV=production \
    SCRAPIFIE_BROWSER_PATH=/usr/bin/chromium \
    SCRAPIFIE_HOST=0.0.0.0 \
    SCRAPIFIE_PORT=3000 \
    SCRAPIFIE_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY . .
COPY --from=dashboard /app/dashboard/dist ./dashboard/dist
RUN install --directory --owner=node --group=node --mode=0750 /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.SCRAPIFIE_PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# tini passes on what docker stop sends: the server drains before it ends.
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "node", "--disable-warning=ExperimentalWarning", "src/main.ts"]
CMD ["serve"]
