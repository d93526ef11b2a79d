import { createHmac } from 'node:crypto';
import { formatTime } from '../../../../common/times.ts';
import type { AlarmItem } from '../alarm-item.ts';
import type { AlarmSettings } from '../settings.ts';
import { changeId } from '../store/deliveries.ts';
import type { Alarm } from '../store/episodes.ts';

const TIMEOUT_MS = 10_000;

/** Alertmanager resolves an alert that is not repeated for this time, in ms. */
const RESOLVED_AFTER_MS = 5 * 60_000;

/** The header has the form `t=EPOCH,v1=HEX`. The receiver computes the signature from its `t` and the body, and compares it. */
export function signatureOf(secret: string, now: number, body: string): string {
  const epoch = Math.floor(now / 1000);
  return `t=${epoch},v1=${createHmac('sha256', secret).update(`${epoch}.${body}`).digest('hex')}`;
}

/** Resolves when the receiver has accepted the report. `sentBefore`: the state it got just before, which `alarm` corrects. */
type Send = (alarm: Alarm, event: string, sentBefore?: Alarm) => Promise<void>;

/** Returns functions of configured receivers only. `repeat` sends open alarms to Alertmanager again. */
export function createReceivers(
  { webhookUrl, webhookSecret, alertmanagerUrl }: AlarmSettings,
  {
    clock,
    toItem,
  }: {
    clock: () => number;
    toItem: (alarm: Alarm) => AlarmItem;
  },
): { webhook?: Send; alertmanager?: Send; repeat?: (alarms: Alarm[]) => Promise<void> } {
  async function webhook(alarm: Alarm, event: string, sentBefore?: Alarm) {
    const body = JSON.stringify({ alarm: toItem(alarm), event });
    await post(String(webhookUrl), body, {
      // A correction has a key of both states, so the key is new. Otherwise a receiver that got the new state before the old
      // state would drop the correction as a repetition.
      'Idempotency-Key': [changeId(event, alarm), sentBefore && changeId(event, sentBefore)]
        .filter(Boolean)
        .join('~'),
      ...(webhookSecret !== undefined && { 'Millrace-Signature': signatureOf(webhookSecret, clock(), body) }),
    });
  }

  const repeat = (alarms: Alarm[]) =>
    post(
      new URL('api/v2/alerts', `${alertmanagerUrl}/`).href,
      JSON.stringify(alarms.map((alarm) => alertOf(alarm, toItem(alarm), clock()))),
      {},
    );

  return {
    ...(webhookUrl !== undefined && { webhook }),
    ...(alertmanagerUrl !== undefined && {
      alertmanager: ((alarm) => repeat([alarm])) satisfies Send,
      repeat,
    }),
  };
}

async function post(url: string, body: string, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Millrace', ...headers },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  // The body of the answer does not matter. Cancel it, so that it does not occupy the connection.
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}

function alertOf(alarm: Alarm, item: AlarmItem, now: number) {
  const ended = alarm.withdrawn ? Math.max(now, alarm.opened) : alarm.cleared;
  const labels = {
    alertname: item.rule,
    alarm_id: item.alarm_id,
    severity: item.severity,
    device: item.device ?? item.device_id,
    sensor: item.sensor ?? item.sensor_id,
    ...(item.site !== null && { site: item.site }),
  };
  return {
    labels,
    annotations: {
      summary: `${labels.device}/${labels.sensor}: ${item.rule}`,
      ...(item.text !== null && { description: item.text }),
      ...(item.peak !== null && { peak: String(item.peak) }),
      ...(item.unit !== null && { unit: item.unit }),
      ...(item.condition !== null && { condition: item.condition }),
      seen_late: String(item.seen_late),
    },
    startsAt: item.opened_at,
    endsAt: formatTime(ended === null ? now + RESOLVED_AFTER_MS : Math.max(ended, alarm.opened + 1)),
  };
}
