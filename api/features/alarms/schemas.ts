import { z } from 'zod';
import { Id, LineText, Name, name, pageOf, Time, time, value } from '../../http/index.ts';
import { CONDITION_KINDS, RuleDefinition, SEVERITIES, WantedRule } from './rules/rule.ts';

const AlarmRule = RuleDefinition.extend({
  rule_id: Id,
  version: z.int().positive().meta({ description: 'Each change makes a new version.' }),
  since: Time.meta({ description: 'The time of measurement from which this version applies.' }),
}).meta({ description: 'A rule of alarms.' });

const Alarm = z
  .strictObject({
    alarm_id: z.string().min(1).meta({ description: 'An opaque text that an address can contain.' }),
    rule_id: Id,
    rule: Name.meta({ description: 'The name that the rule had.' }),
    severity: z.enum(SEVERITIES),
    condition: z.enum(CONDITION_KINDS).nullable().meta({
      description: 'The condition of the rule. Null for alarms from before version 0.4.',
    }),
    text: z.string().nullable().meta({
      description:
        'The advice in the version of the rule that found the alarm. Null without a text, or if the rule was removed.',
    }),
    device_id: Id,
    device: name,
    sensor_id: Id,
    sensor: name,
    site: name,
    started_at: Time.meta({
      description: 'The first sample of the alarm; for an absence the last sample before it.',
    }),
    opened_at: Time.meta({
      description: 'The time of measurement at which the condition had held for long enough.',
    }),
    cleared_at: time,
    peak: value.meta({ description: 'The most extreme value, or rate a second. Null for an absence.' }),
    unit: z.string().nullable().meta({ description: 'Unit of the sensor when the alarm was found.' }),
    state: z.enum(['open', 'cleared', 'withdrawn']).meta({
      description: '`withdrawn`: samples that arrived later show that it did not happen.',
    }),
    seen_late: z.boolean().meta({ description: 'It was opened or corrected after the fact.' }),
    acknowledged_at: time,
    acknowledged_by: z.string().nullable(),
    comment: z.string().nullable(),
    shelved_until: time,
    values_corrected_at: time.meta({
      description:
        'The last correction of values between its start and its end; null: none. The alarm stays as it is.',
    }),
  })
  .meta({ description: 'A time range in which a sensor met the condition of a rule.' });

const AlarmMessage = z
  .strictObject({
    event: z.enum(['opened', 'cleared', 'acknowledged', 'corrected', 'shelved']),
    alarm: Alarm,
  })
  .meta({
    description:
      'A change of an alarm, as webhooks, the stream and MQTT carry it. Webhooks do not get `shelved`.',
  });

const AlarmEvents = z
  .strictObject({
    items: z.array(
      z.strictObject({
        ts: Time,
        kind: z.enum(['opened', 'cleared', 'corrected', 'acknowledged', 'shelved']),
        by: z.string().nullable(),
        comment: z.string().nullable(),
      }),
    ),
  })
  .meta({ description: 'The changes of an alarm, in order.' });

const Suggestion = z.strictObject({ limit: z.number(), count: z.int().min(0) }).nullable();

const Backtest = z
  .strictObject({
    from: Time,
    to: Time,
    stored_from: time.meta({
      description: 'The oldest sample that the tested sensors have in the range. Null: they have none.',
    }),
    stored_to: time.meta({
      description: 'The newest of these samples, or `to` if newer ones are outside the range.',
    }),
    count: z.int().min(0).meta({
      description: 'Alarms that the rule would have opened, with those that `items` leaves out.',
    }),
    sensors: z.int().min(0).meta({ description: 'Sensors that were looked at.' }),
    partial: z.boolean().meta({ description: 'The scope has more sensors than one test reads.' }),
    without_interval: z.int().min(0).meta({
      description:
        'Tested sensors without an interval. A rule of the kind `absent` with `intervals` never fires for them. 0 for other rules.',
    }),
    total_ms: z.int().min(0).meta({ description: 'How long the listed alarms lasted together.' }),
    items: z
      .array(
        z.strictObject({
          device_id: Id,
          device: name,
          sensor_id: Id,
          sensor: name,
          started_at: Time,
          opened_at: Time,
          cleared_at: time,
          peak: value,
        }),
      )
      .max(1000)
      .meta({ description: 'The first 1,000 alarms, by sensor and time.' }),
    fewer_alarms: Suggestion.meta({ description: 'A limit with fewer alarms, and their number.' }),
    more_alarms: Suggestion.meta({ description: 'A limit with more alarms, and their number.' }),
  })
  .meta({ description: 'When a rule would have fired.' });

const AlarmDelivery = z.strictObject({
  alarm_id: z.string(),
  target: z.enum(['webhook', 'alertmanager']),
  event: z.string(),
  begun_at: Time,
  attempts: z.int().min(0),
  failed_at: time.meta({ description: 'Given up. Null: it will be tried again.' }),
  error: z.string().nullable(),
});

const Acknowledgement = z
  .strictObject({
    by: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .meta({ description: 'Who acknowledges. Default: the kind of the caller.' }),
    comment: LineText.optional(),
  })
  .meta({ examples: [{ by: 'Ada', comment: 'The door was open' }] });

const Shelving = Acknowledgement.extend({
  until: z
    .union([z.int(), z.string()])
    .meta({ description: 'Until when nothing is delivered: epoch milliseconds, or ISO 8601.' }),
}).meta({ examples: [{ until: '2026-11-21T18:00:00Z', by: 'Ada', comment: 'Parts are ordered' }] });

/** Of HTTP bodies, events and messages, by their names in the documents. */
export const SCHEMAS = {
  WantedRule,
  Acknowledgement,
  Shelving,
  AlarmRule,
  AlarmRules: z.strictObject({ items: z.array(AlarmRule) }),
  Alarm,
  AlarmPage: pageOf(Alarm),
  AlarmMessage,
  AlarmEvents,
  Backtest,
  AlarmDeliveries: z.strictObject({ items: z.array(AlarmDelivery).max(1000) }),
  AlarmTest: z.strictObject({
    items: z.array(
      z.strictObject({ target: z.enum(['webhook', 'alertmanager']), error: z.string().nullable() }),
    ),
  }),
};
