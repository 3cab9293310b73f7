# Docket with its own Redis. Settings come from the environment; .env.example lists them. Keep /data on a volume.
# docs/deploy.md says how to run it. `npm run image-base` prints and pins its digest.
ARG BASE=node:26-bookworm-slim@sha256:582460f614631b59b824ac6020533b9bf339c7fdf3a6d7db31abb6b4065f0212

# The system: the base with Redis, without the tools that only builds need.
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
# Without scripts: they would only build optional speed-ups, or install a second Node.
RUN npm ci --omit=dev --ignore-scripts \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# The program with its compiled code. Node finds that by path, version and user, so it is compiled here, as that user.
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
# Node lets only its user read the compiled code. In the image, root owns it, and all may read it.
RUN chmod -R a+rX .compiled

# One stage with everything. Otherwise, the files removed above would still be in the layers of the base.
FROM scratch
COPY --from=system / /
WORKDIR /app
COPY --from=program --chown=0:0 /app ./
# The commands "docker run … docket doctor" and "docker run … docket after-restore" (docs/backup.md).
RUN for command in 'doctor doctor/main.ts' 'after-restore after-restore/main.ts'; do \
      file=/usr/local/bin/${command%% *} \
   && printf '#!/bin/sh\nexec node /app/src/%s "$@"\n' "${command#* }" > "$file" \
   && chmod 755 "$file" || exit 1; done \
 && install --directory --owner=node --group=node --mode=700 /data

# The log and the metrics name the commit.
ARG REVISION
RUN printf '%s\n' "${REVISION}" > revision

ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_ENV=production NODE_COMPILE_CACHE=/app/.compiled \
    DATA_DIR=/data PORT=3000
VOLUME /data
EXPOSE 3000
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "src/healthcheck/main.ts"]
# Without tini, Node is process 1 and ignores a SIGTERM that arrives before Node handles signals.
ENTRYPOINT ["tini", "--"]
CMD ["node", "src/app.ts"]

ARG BASE
ARG VERSION
LABEL org.opencontainers.image.title="Docket" \
      org.opencontainers.image.description="Slack app for docs teams: static exports of a docs site, a docs agent that threads ask, and weekly digests" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
