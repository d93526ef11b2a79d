import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import express from 'express';
import pino from 'pino';
import { routes } from '../../../../api/features/alarms/routes/alarm-rules.ts';
import { problemHandler } from '../../../../api/http/problems.ts';
import { bindRoutes, serve } from '../../../../api/http/serve.ts';
import { listening } from '../../../support/http/listening.ts';

const logger = pino({ level: 'silent' });
const NOW = Date.UTC(2026, 10, 21, 12, 20);
const DEFINITION = {
  name: 'hot',
  severity: 'info',
  scope: { device: 'oven' },
  condition: { kind: 'above', limit: 5 },
};

test('POST /alarm-rules: the evaluation of past samples takes long: the response does not wait for it', async () => {
  const begun: string[] = [];
  const app = express();
  const guard = () => (_req: unknown, res: { locals: object }, next: () => void) => {
    Object.assign(res.locals, { caller: { by: 'test' } });
    next();
  };
  const deps = {
    alarms: {
      rules: {
        add: async (definition: object, since: number) => ({
          id: 'added',
          versions: [{ version: 1, since, definition }],
        }),
      },
      evaluatePast(id: string) {
        begun.push(id);
        return new Promise(() => {});
      },
    },
    context: { clock: () => NOW, logger },
  };
  serve(app, bindRoutes(routes, deps as never), { guard } as never);
  app.use(problemHandler(logger));
  const server = createServer(app);
  try {
    const port = await listening(server);
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/alarm-rules`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...DEFINITION, since: NOW - 3_600_000 }),
    });
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ rule_id: 'added', since: '2026-11-21T11:20:00.000Z' });
    expect(begun).toEqual(['added']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
