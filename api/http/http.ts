import type { Periods } from '../../common/periods.ts';
import type { OwnCertificate } from '../access/tls/certificate-reload.ts';
import type { Readiness } from '../observability/readiness.ts';
import { createApi } from './api.ts';
import { createApp } from './app.ts';
import type { Contract } from './contract/openapi.ts';
import type { RouteCore } from './route.ts';
import { createHttpServer } from './server.ts';

/** Creates the server of a process. A process with the role `ingest` serves only health and metrics. */
export function createHttp(
  core: RouteCore & { context: { version: string }; health: { readiness: Readiness } },
  {
    contracts,
    tls,
    periods,
    ...deps
  }: Parameters<typeof createApi>[1] & {
    contracts: Contract[];
    tls: OwnCertificate | null;
    periods: Pick<Periods, 'request' | 'stall'>;
  },
) {
  const { config, version, logger, metrics } = core.context;
  const { access } = core.http;
  const { readiness } = core.health;
  const { host, port } = config.http;
  const api = config.role === 'ingest' ? null : createApi(core, deps);
  return createHttpServer({
    app: createApp({ api, contracts, readiness, version, access, settings: config.http, logger, metrics }),
    host,
    port,
    tls,
    stopStreams: deps.stream.stop,
    requestMs: periods.request,
    stallMs: periods.stall,
    metrics,
  });
}
