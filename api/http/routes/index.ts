import type { Route } from '../route.ts';
import * as alarmRules from './alarm-rules.ts';
import * as alarms from './alarms.ts';
import * as annotations from './annotations.ts';
import * as changes from './changes.ts';
import * as credentials from './credentials.ts';
import * as deadLetters from './dead-letters.ts';
import * as devices from './devices.ts';
import * as exports from './export.ts';
import * as fleet from './fleet.ts';
import * as imports from './import.ts';
import * as latest from './latest.ts';
import * as lineProtocol from './line-protocol.ts';
import * as measurements from './measurements.ts';
import * as outliers from './outliers.ts';
import * as prometheus from './prometheus.ts';
import * as prometheusLabels from './prometheus-labels.ts';
import * as query from './query.ts';
import * as refusedDevices from './refused-devices.ts';
import * as search from './search.ts';
import * as service from './service.ts';
import * as session from './session.ts';
import * as unmatchedTopics from './unmatched-topics.ts';

/** In the order in which the HTTP application asks them. The document lists them by their tags. */
export const ROUTES: Route[] = [
  ...latest.routes,
  ...outliers.routes,
  ...fleet.routes,
  ...search.routes,
  ...devices.routes,
  ...exports.routes,
  ...measurements.routes,
  ...query.routes,
  ...changes.routes,
  ...imports.routes,
  ...annotations.routes,
  ...alarmRules.routes,
  ...alarms.routes,
  ...refusedDevices.routes,
  ...deadLetters.routes,
  ...unmatchedTopics.routes,
  ...credentials.routes,
  ...session.routes,
  ...lineProtocol.routes,
  ...prometheus.routes,
  ...prometheusLabels.routes,
  ...service.routes,
  ...service.documentRoutes,
];
