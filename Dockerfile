# Docket with its own Redis. Settings come from the environment (.env.example lists them); keep /data on a volume.
# What this needs and how to run it: docs/deploy.md. `npm run image-base` resolves and pins the digest of the base.
ARG BASE=node:26-bookworm-slim

# The system: the base with Redis, and without what only builds.
FROM ${BASE} AS system
RUN apt-get update \
 && apt-get install --yes --no-install-recommends redis-server tini \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log \
 && rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share/doc /usr/local/share/man /opt/yarn* \
 && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /usr/local/bin/docker-entrypoint.sh \
 && rm -f /usr/local/CHANGELOG.md /usr/local/README.md

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: the only ones would build optional speed-ups or bring a second Node.
RUN npm ci --omit=dev --ignore-scripts \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# The program with its compiled code, which Node finds by path, version and user: so it is made here, as that user.
FROM system AS program
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json manifest.yml LICENSE ./
COPY src ./src
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compiled
RUN install --directory --owner=node --group=node .compiled
COPY scripts/image-compile.mjs /tmp/
USER node
RUN node /tmp/image-compile.mjs
USER root
# Node writes it for its user alone; in the image it is root's.
RUN chmod -R a+rX .compiled

# Everything in one stage of its own: what was removed above would else still be in the layers of the base.
FROM scratch
COPY --from=system / /
WORKDIR /app
COPY --from=program --chown=0:0 /app ./
# "docker run … docket doctor" says what is wrong with the settings; "docker run … docket after-restore": docs/backup.md.
RUN for command in 'doctor doctor/main.ts' 'after-restore after-restore/main.ts'; do \
      file=/usr/local/bin/${command%% *} \
   && printf '#!/bin/sh\nexec node /app/src/%s "$@"\n' "${command#* }" > "$file" \
   && chmod 755 "$file" || exit 1; done \
 && install --directory --owner=node --group=node --mode=700 /data

ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_ENV=production NODE_COMPILE_CACHE=/app/.compiled \
    DATA_DIR=/data PORT=3000
VOLUME /data
EXPOSE 3000
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "src/healthcheck/main.ts"]
# As process 1 without a handler, Node would not see a SIGTERM that comes before its own is there.
ENTRYPOINT ["tini", "--"]
CMD ["node", "src/app.ts"]

ARG BASE
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="Docket" \
      org.opencontainers.image.description="Slack app for docs teams: static exports of a docs site, a docs agent that threads instruct, and weekly digests" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
