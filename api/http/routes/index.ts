import type { Retirement } from '../../ingest/registry/index.ts';
import type { InstallationStats } from '../../live/installation-stats.ts';
import type { UnwatchedTime } from '../../observability/watched-time.ts';
import type { Contract } from '../contract/openapi.ts';
import { PROBLEM_MEMBERS, TAGS } from '../contract/operation.ts';
import { PAYLOADS } from '../contract/payloads.ts';
import { SCHEMAS } from '../contract/schemas/index.ts';
import type { BrokerAddress } from '../items.ts';
import type { Route, RouteCore } from '../route.ts';
import type { Stream } from '../stream/index.ts';
import * as devices from './devices.ts';
import * as fleet from './fleet.ts';
import * as latest from './latest.ts';
import * as measurements from './measurements.ts';
import * as service from './service.ts';
import * as session from './session.ts';

/** The further parts that routes of the core need. */
export interface CoreParts {
  retire: Retirement['retire'];
  stats: Pick<InstallationStats, 'recent'>;
  stream: Stream;
  unwatchedTime: Pick<UnwatchedTime, 'read'>;
  mqtt: BrokerAddress;
  streamedUntil: () => Promise<Array<number | null>>;
}

/** Only a process that serves the API serves these. */
export const API_ROUTES: Array<Route<RouteCore & CoreParts>> = [
  ...latest.routes,
  ...fleet.routes,
  ...devices.routes,
  ...measurements.routes,
  ...session.routes,
];

const PARAMETERS = {
  device: {
    description: 'A device: its UUID in lower case, or its name, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'my-desk',
  },
  sensor: {
    description: 'A sensor of the device: its UUID in lower case, or its name, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'temperature',
  },
};

export const CORE_CONTRACT: Contract = {
  tags: TAGS,
  schemas: { ...SCHEMAS, ...PAYLOADS },
  parameters: PARAMETERS,
  problems: PROBLEM_MEMBERS,
  routes: [...API_ROUTES, ...service.routes, ...service.documentRoutes],
  events: latest.EVENTS,
};
