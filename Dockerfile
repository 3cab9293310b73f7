# Docket with its own Redis. Settings come from the environment (.env.example lists them); keep /data on a volume.
FROM node:26-bookworm-slim

RUN apt-get update \
 && apt-get install --yes --no-install-recommends redis-server \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=node --group=node --mode=700 /data

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: the only ones would build optional speed-ups or bring a second Node.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY manifest.yml ./
COPY src ./src
# "docker run … docket doctor" says what is wrong with the settings.
RUN printf '#!/bin/sh\nexec node /app/src/doctor/main.ts "$@"\n' > /usr/local/bin/doctor && chmod 755 /usr/local/bin/doctor
# "docker exec … backup FILE" and "docker run … restore FILE": docs/backup.md.
RUN for command in backup restore; do \
      printf '#!/bin/sh\nexec node /app/src/backup/main.ts %s "$@"\n' $command > /usr/local/bin/$command \
   && chmod 755 /usr/local/bin/$command || exit 1; done

ENV NODE_ENV=production DATA_DIR=/data PORT=3000
VOLUME /data
EXPOSE 3000
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "const { DOCKET_ROLE, HEALTH_PORT, PORT } = process.env; const port = (DOCKET_ROLE === 'worker' && HEALTH_PORT) || PORT; fetch(`http://127.0.0.1:${port}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/app.ts"]
