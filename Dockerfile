# One image for the API, the migrations and the simulator: the command differs (docker-compose.yml).

FROM node:24.21.0-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app

FROM base AS dependencies
COPY package.json package-lock.json ./
# Without the development packages in package.json, npm ci does not ask whether the lock file has them for this platform.
# None of the dependencies needs its install script, so none gets to run one.
RUN npm pkg delete devDependencies \
  && npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm cache clean --force

# The dashboard and the manual. Their tools are development packages, so they stay in this stage.
FROM base AS pages
ENV NODE_ENV=development
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY common common/
COPY schema schema/
COPY api api/
COPY web web/
COPY vite.config.js ./
RUN npm run build
COPY CONTRIBUTING.md ./
COPY docs docs/
RUN npm run docs:build

FROM base
COPY --from=dependencies /app/node_modules node_modules/
COPY package.json ./
COPY common common/
COPY schema schema/
COPY api api/
COPY simulator simulator/
COPY --from=pages /app/dist dist/
COPY infra/compose/ready.ts infra/compose/ready.ts

# Files belong to root and are only read; what is written goes to DATA_DIR, which a volume or tmpfs can hold.
ENV DATA_DIR=/tmp/millrace
# The image's user node, by number, so that Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8080

# The exec form: signals reach Node.js itself, which drains before it ends. Run it with --init to reap zombies.
CMD ["node", "--max-semi-space-size=64", "api/index.ts"]
