/** Rules over samples, the episodes in which sensors fulfill them, and their delivery. */

import { defineFeature } from '../../feature.ts';
import { createAlarms } from './alarms.ts';
import { createFindChange, KIND } from './announced.ts';
import { CHANNEL, CHANNELS, readAlarm } from './channels.ts';
import { noteCorrected } from './corrected.ts';
import { routes as ruleRoutes } from './routes/alarm-rules.ts';
import { routes } from './routes/alarms.ts';
import { SCHEMAS } from './schemas.ts';
import { ALARM_SETTINGS } from './settings.ts';
import { AlarmStore } from './store/episodes.ts';
import { createAlarmTables } from './store/index.ts';

const { Alarm, AlarmMessage } = SCHEMAS;

/**
 * - `alarmRules`: interval of the check for changed rules
 * - `absence`: interval of the check for sensors that are absent
 * - `alarmRecheck`: first pause before an open alarm is evaluated again; each later pause is twice as long
 * - `alarmRecovery`: interval in which evaluation stores its progress, and looks for processes that died
 * - `alarmDeliveries`: interval of the check for deliveries to repeat
 */
const PERIODS_MS = {
  alarmRules: 2000,
  absence: 250,
  alarmRecheck: 1000,
  alarmRecovery: 5000,
  alarmDeliveries: 2000,
};

export const alarmsFeature = defineFeature({
  name: 'alarms',
  settings: [ALARM_SETTINGS],
  tags: { alarms: 'Rules, the alarms that they find, and their life.' },
  schemas: SCHEMAS,
  parameters: {
    rule_id: {
      description: 'The `rule_id` of an alarm rule.',
      schema: { type: 'string', minLength: 1 },
      example: '0b61a3c4-8a0e-4a43-9d57-7b2c8f0f6c11',
    },
    alarm_id: {
      description: 'The `alarm_id` of an alarm.',
      schema: { type: 'string', minLength: 1 },
      example: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    },
  },
  events: {
    alarm: { schema: AlarmMessage, text: 'a change of any alarm. After a reconnect read `GET /alarms`' },
  },
  channels: CHANNELS,
  messages: { Alarm, AlarmMessage },
  announced: { [KIND]: ({ everywhere }) => createFindChange(new AlarmStore(everywhere.session)) },
  routes: [...ruleRoutes, ...routes],
  create(core) {
    const {
      store,
      reading,
      health: { clockGuard, watches, unwatchedTime },
      ingest,
      publishing: { live, stream },
      context: { periodsOf },
    } = core;
    const periods = periodsOf(PERIODS_MS);
    const tables = createAlarmTables(store.session, store.everywhere.session);
    const channel = live.channel(CHANNEL, readAlarm);
    channel.subscribe((message) => stream.sendEvent('alarm', message));
    const alarms = createAlarms(core.context, {
      store,
      tables,
      reading,
      clockGuard,
      ingest,
      watch: { watches, unwatchedTime },
      publish: channel.publish,
      outbox: ingest.outbox,
      periods: {
        rules: periods.alarmRules,
        absence: periods.absence,
        recheck: periods.alarmRecheck,
        recovery: periods.alarmRecovery,
        deliveries: periods.alarmDeliveries,
      },
    });
    return {
      deps: { alarms, tables },
      onCorrected: (correction) => noteCorrected(tables.episodes, correction),
      // It also ends alarms of a device that is already retired, so a second retirement repeats it after a failure.
      onRetired: ({ bytes }) => alarms.endOfDevice(bytes),
      start: alarms.start,
      stop: alarms.stop,
    };
  },
});
