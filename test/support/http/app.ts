import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import pino from 'pino';
import { createAccess } from '../../../api/access/http/index.js';
import { createApp } from '../../../api/http/app.js';
import { API_ROUTES } from '../../../api/http/routes/index.js';
import { serve } from '../../../api/http/serve.js';
import { createMetrics } from '../../../api/observability/metrics.js';
import { Readiness } from '../../../api/observability/readiness.js';
import { useStarted } from '../clean-ups.js';
import { send } from './index.js';
import { listening } from './listening.js';

/** @import { Logger } from 'pino' */
/** @import { Rate } from '../../../api/access/http/rate-limits.js' */
/** @import { Config } from '../../../common/settings/config.js' */

/** Tokens of an application whose clients need one. */
export const TOKENS = {
  apiToken: 'a-token-of-the-scope-admin',
  readTokens: ['a-token-of-the-scope-read'],
  ingestTokens: ['a-token-of-the-scope-ingest'],
};

/** @typedef {Config['http']} HttpSettings */

/** @type {Pick<HttpSettings, 'host' | 'tls' | 'trustProxy' | 'requestsPerSecond' | 'apiToken' | 'readTokens' | 'ingestTokens' | 'sessionMs'>} */
const SETTINGS = {
  host: '127.0.0.1',
  tls: null,
  trustProxy: 0,
  requestsPerSecond: 1000,
  apiToken: undefined,
  readTokens: [],
  ingestTokens: [],
  sessionMs: 3_600_000,
};

/** Routes that need a scope each and answer with the caller. */
const CALLER_ROUTES = /** @type {const} */ ([
  ['get', 'read'],
  ['post', 'ingest'],
  ['delete', 'admin'],
]).map(([method, scope]) => ({
  method,
  path: '/api/v1/caller',
  create: () => (/** @type {express.Request} */ _req, /** @type {express.Response} */ res) =>
    void res.json(res.locals['caller']),
  operation: /** @type {any} */ ({ scope, answers: {} }),
}));

/**
 * Starts the HTTP application with its guards, limits, access and session routes, without a database. `/api/v1/caller` answers
 * with the caller: GET needs the scope `read`, POST `ingest`, DELETE `admin`.
 *
 * @param {object} [options]
 * @param {Partial<typeof SETTINGS>} [options.settings]
 * @param {() => number} [options.clock] epoch ms
 * @param {Rate} [options.attempts] limit for wrong tokens from one address
 * @param {string} [options.secret] key that signs sessions
 * @param {Logger} [options.logger]
 */
export async function startHttpApp(options = {}) {
  const { clock = Date.now, attempts = { most: 10, windowMs: 60_000 }, secret = 'a secret' } = options;
  const { logger = pino({ level: 'silent' }) } = options;
  const settings = { ...SETTINGS, ...options.settings };
  const access = createAccess({ settings, secret, attempts, clock, logger });
  const router = express.Router();
  const session = API_ROUTES.filter(({ path }) => path === '/api/v1/session');
  serve(router, [...session, ...CALLER_ROUTES], /** @type {any} */ ({ access }));
  const app = createApp({
    api: { router, readers: () => 0, stopStreams() {} },
    readiness: new Readiness({ health: { clockDifference: async () => 0 }, checks: {} }),
    version: 'test',
    access,
    settings,
    logger,
    metrics: createMetrics({ version: 'test', role: 'http' }),
  });
  const server = createServer({ requireHostHeader: false }, app);
  const port = await listening(server);
  const url = `http://127.0.0.1:${port}`;

  return {
    url,

    /** @param {string} path @param {Omit<Parameters<typeof send>[2], 'isReader'>} [request] */
    send: (path, request) => send(url, path, { ...request, isReader: false }),

    /**
     * Sends the head of one request unchanged.
     *
     * @param {string[]} lines without line ends
     * @returns {Promise<{ status: number, text: string }>}
     */
    async sendLines(lines) {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1');
      let answer = '';
      for await (const piece of socket) answer += piece;
      return { status: Number(answer.split(' ', 2)[1]), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) };
    },

    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startHttpApp>>} HttpApp */

/** Starts the application for the tests of a file, and stops it after them. @param {Parameters<typeof startHttpApp>[0]} [options] */
export const useHttpApp = (options) =>
  useStarted(
    () => startHttpApp(options),
    ({ stop }) => stop(),
  );
