# Two images of one program: `browser` has Chromium and suits every role, `slim` has no browser and suits the roles that
# render nothing (api, http-worker, scheduler). `make docker` builds both; docs/deployment.md says how to run them.
#
# docker build --tag scrapifie .
# docker run --publish 127.0.0.1:3000:3000 --volume scrapifie-data:/data --read-only --tmpfs /tmp --cap-drop ALL \
#   --security-opt no-new-privileges --security-opt seccomp=deploy/docker/seccomp.json --security-opt apparmor=unconfined scrapifie

# The image that this one is built on; releases name it by its digest: docs/security.md, "Supply chain".
ARG NODE_IMAGE=node:24-slim

# The packages that the program imports, for the platform of the image.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && rm -rf /root/.npm

# The files of the npm package: `files` in package.json is the one list of what the program needs. They are the same for every
# platform, so they are built on that of the machine that builds.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS program
WORKDIR /build/dashboard
COPY dashboard/package.json dashboard/package-lock.json dashboard/.npmrc ./
RUN npm ci --ignore-scripts
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/pack.ts /tmp \
  && mkdir /app \
  && tar --extract --gzip --file /tmp/scrapifie-*.tgz --directory /app --strip-components=1

# What both images share: the system, the settings of a container, and how the program is started and asked for its health.
FROM ${NODE_IMAGE} AS system
# A moment such as 20261101T000000Z: Debian's packages as they were then, so that a later build gets the same ones.
ARG DEBIAN_SNAPSHOT=
RUN if [ -n "$DEBIAN_SNAPSHOT" ]; then \
    sed -i -E "s|^URIs: http://deb.debian.org/(debian[a-z-]*)/?$|URIs: http://snapshot.debian.org/archive/\1/$DEBIAN_SNAPSHOT|" \
      /etc/apt/sources.list.d/debian.sources; \
  fi \
  && apt-get -o Acquire::Check-Valid-Until=false update \
  # tini reaps the processes that browsers leave, and passes signals on.
  && apt-get install --yes --no-install-recommends tini \
  # Logs and caches hold the time of the build; npm and yarn are for building.
  && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig \
    /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn* /root/.npm \
  # The command by its name, for `docker exec … scrapifie doctor`.
  && ln -s /app/scrapifie /usr/local/bin/scrapifie \
  # 1000 is the user `node` of the base image. Orchestrators that refuse root want to see a number.
  && install --directory --owner=1000 --group=1000 --mode=0700 /data
# Everything but the data folder and /tmp may be read-only. HOME is where libraries look for files of a user.
ENV NODE_ENV=production \
    HOME=/tmp \
    SCRAPIFIE_HOST=0.0.0.0 \
    SCRAPIFIE_PORT=3000 \
    SCRAPIFIE_DATA_DIR=/data
WORKDIR /app
VOLUME /data
EXPOSE 3000
USER 1000:1000
# Every role listens and answers this question, and no part of the answer depends on another server.
# The first start of a version may migrate a large database for minutes; the first good answer ends that time.
HEALTHCHECK --interval=15s --timeout=5s --start-period=300s --retries=3 \
  CMD ["node", "--eval", "require('node:http').get(`http://127.0.0.1:${process.env.SCRAPIFIE_PORT}/healthz`, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# The server drains when it gets this signal; it needs SCRAPIFIE_DRAIN_MS and ten seconds more.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/tini", "--", "/app/scrapifie"]
CMD ["serve"]

FROM system AS slim
COPY --from=packages /app/node_modules ./node_modules
COPY --from=program /app ./

FROM system AS browser
USER 0:0
# Fonts for pages that bring none.
RUN apt-get -o Acquire::Check-Valid-Until=false update \
  && apt-get install --yes --no-install-recommends \
    chromium fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
  && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/apt/* /var/cache/debconf/*-old /var/cache/ldconfig
USER 1000:1000
ENV SCRAPIFIE_BROWSER_PATH=/usr/bin/chromium
COPY --from=packages /app/node_modules ./node_modules
COPY --from=program /app ./
