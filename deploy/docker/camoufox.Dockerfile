# Camoufox as a Playwright server, for SCRAPIFIE_REMOTE_BROWSER_URL=ws://camoufox:9222/camoufox (docs/browsers.md).
# Playwright must be of the version that Scrapifie drives browsers with.
ARG PYTHON_IMAGE=python:3.12-slim
FROM ${PYTHON_IMAGE}
ARG CAMOUFOX_VERSION=0.4.11
ARG PLAYWRIGHT_VERSION=1.63
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    fonts-liberation libasound2 libdbus-glib-1-2 libgtk-3-0 libx11-xcb1 libxt6 libxtst6 \
  && rm -rf /var/lib/apt/lists/* \
  && pip install --no-cache-dir "camoufox[geoip]==${CAMOUFOX_VERSION}" "playwright==${PLAYWRIGHT_VERSION}.*" \
  && useradd --create-home --uid 1000 camoufox
USER 1000:1000
RUN python -m camoufox fetch
EXPOSE 9222
CMD ["python", "-c", "from camoufox.server import launch_server; launch_server(headless=True, port=9222, ws_path='camoufox')"]
