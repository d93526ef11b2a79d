import type { Noted, Outbox } from '../../ingest/outbox.ts';
import type { AlarmItem } from './alarm-item.ts';
import { announcementOf } from './announced.ts';
import type { Deliveries } from './delivery/deliveries.ts';
import type { AlarmChange, AlarmEventKind } from './evaluation/evaluator.ts';
import type { AlarmMetrics } from './metrics.ts';
import type { Alarm } from './store/episodes.ts';

/** As `/stream` and the topic `iot/live/alarms` send it. */
export type AlarmMessage = { event: AlarmEventKind | 'shelved'; alarm: AlarmItem };

/** Passes changes of alarms on: to receivers, the outbox, and readers of live values. */
export class AlarmReports {
  #deps;
  /** Outbox entries of changes that are not written yet. */
  #noted: WeakMap<Alarm, Noted[]> = new WeakMap();

  constructor(deps: {
    deliveries: Deliveries;
    /** null: nothing is streamed out */
    outbox: Outbox | null;
    groups: number;
    metrics: Pick<AlarmMetrics, 'alarmEvents'>;
    publish: (message: AlarmMessage) => void;
    toItem: (alarm: Alarm) => AlarmItem;
  }) {
    this.#deps = deps;
  }

  /** Must run before the change itself is written. */
  async announce(alarm: Alarm, kinds: AlarmEventKind[]) {
    const { deliveries, outbox, groups } = this.#deps;
    await deliveries.begin(alarm, kinds);
    if (!outbox) return;
    const notes = kinds.map((event) => outbox.note(announcementOf(alarm, event, groups)));
    this.#noted.set(alarm, await Promise.all(notes));
  }

  /** The alarm and its history must be committed. */
  report({ alarm, kinds }: Pick<AlarmChange, 'alarm' | 'kinds'>) {
    const { deliveries, outbox, metrics } = this.#deps;
    deliveries.send(alarm);
    for (const each of this.#noted.get(alarm) ?? []) outbox?.send(each);
    for (const kind of kinds) {
      metrics.alarmEvents.inc({ event: kind });
      this.publish(kind, alarm);
    }
  }

  publish(event: AlarmMessage['event'], alarm: Alarm) {
    const { publish, toItem } = this.#deps;
    publish({ event, alarm: toItem(alarm) });
  }
}
