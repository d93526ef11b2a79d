import type { Client } from '../../api/client.ts';
import { segment } from '../../api/client.ts';
import type { Query } from '../../api/request.ts';
import type { Page } from '../../api/types.ts';
import type * as schemas from './schemas.ts';

export type Alarm = schemas.Alarm;
export type Severity = Alarm['severity'];
export type AlarmRule = schemas.AlarmRule;
export type AlarmCondition = AlarmRule['condition'];
export type WantedAlarmRule = Omit<AlarmRule, 'rule_id' | 'version' | 'since'>;
export type Backtest = schemas.Backtest;
export type PastEpisode = Backtest['items'][number];

export const readAlarms = ({ requests }: Client, query: Query, signal?: AbortSignal): Promise<Page<Alarm>> =>
  requests.get('/alarms', query, signal);

export async function acknowledgeAlarm(
  { requests }: Client,
  id: string,
  given: { by?: string; comment?: string },
) {
  await requests.read(`/alarms/${segment(id)}/acknowledge`, undefined, { method: 'POST', body: given });
}

/** @param given `until`: time in epoch ms at which the shelving ends */
export async function shelveAlarm(
  { requests }: Client,
  id: string,
  given: { until: number; by?: string; comment?: string },
) {
  await requests.read(`/alarms/${segment(id)}/shelve`, undefined, { method: 'POST', body: given });
}

export const readRules = ({ requests }: Client, signal?: AbortSignal): Promise<{ items: AlarmRule[] }> =>
  requests.get('/alarm-rules', {}, signal);

export async function saveRule({ requests }: Client, rule: WantedAlarmRule, id: string | null) {
  const path = id === null ? '/alarm-rules' : `/alarm-rules/${segment(id)}`;
  await requests.read(path, undefined, { method: id === null ? 'POST' : 'PUT', body: rule });
}

export async function removeRule({ requests }: Client, id: string) {
  await requests.requestOk(`/alarm-rules/${segment(id)}`, undefined, { method: 'DELETE' });
}

/** @returns the alarms that the rule would have opened in the last 30 days */
export const testRule = (
  { requests }: Client,
  rule: WantedAlarmRule,
  signal?: AbortSignal,
): Promise<Backtest> => requests.post('/alarm-rules/test', { body: rule }, signal);

export const testAlarmDelivery = ({
  requests,
}: Client): Promise<{ items: Array<{ target: string; error: string | null }> }> =>
  requests.post('/alarm-deliveries/test');
