import type { Session } from '../../../store/sending/session.ts';
import { createAlarmDeliveryStore } from './deliveries.ts';
import { AlarmStore } from './episodes.ts';
import { createAlarmProgress } from './progress.ts';
import { createAlarmRuleStore } from './rules.ts';

/** Alarm writes do not use the congestion window of ingest, so alarms never wait for messages. */
export const createAlarmTables = (session: Session, everywhere: Session = session) => ({
  rules: createAlarmRuleStore(session),
  episodes: new AlarmStore(session),
  deliveries: createAlarmDeliveryStore(session),
  progress: createAlarmProgress(session, everywhere),
});

export type AlarmTables = ReturnType<typeof createAlarmTables>;
