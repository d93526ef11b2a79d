import { useRef } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { createLimit } from '../../api/client.ts';
import { nullIfMissing } from '../../api/request.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { WantedAlarmRule } from './api.ts';
import { readAlarms } from './api.ts';
import { REFRESH, useReloads } from './open-alarms.ts';

export function useAlarms({
  state,
  severity,
  cursor,
  limit,
}: {
  state: string;
  severity: string | null;
  cursor: string | null;
  limit: number;
}) {
  const { client } = useServices();
  const answer = useQuery(
    `alarms ${state} ${severity} ${cursor}`,
    (signal) => readAlarms(client, { state, severity, cursor, limit }, signal),
    REFRESH,
  );
  useReloads(answer.reload);
  return answer;
}

type Scope = WantedAlarmRule['scope'];

/** The unit of the sensors in a scope. `isMixed`: the sensors send different units */
export type ScopeUnit = { unit: string | null; isMixed: boolean };

export const scopeKey = ({ device, sensor, type, site }: Scope): string =>
  JSON.stringify([device ?? '', sensor ?? '', type ?? '', site ?? '']);

/** Maximum number of sensors of a scope whose units are read. */
const MOST_READ = 200;
/** Maximum number of concurrent reads of scopes. A browser opens at most six connections to a host, for all tabs together. */
const AT_ONCE = 3;

/** Reads the unit of the sensors in a scope. @returns null: the scope has no sensors */
async function unitOfScope(
  client: Client,
  { device, sensor, type, site }: Scope,
  signal: AbortSignal,
): Promise<ScopeUnit | null> {
  const found =
    device && sensor
      ? [await client.sensor(device, sensor, signal)]
      : (await client.latest({ device, type, site, limit: MOST_READ }, signal)).items;
  const units = [...new Set(found.map(({ unit }) => unit))];
  return units.length === 0 ? null : { unit: units[0] ?? null, isMixed: units.length > 1 };
}

/**
 * Reads the units in which limits and peaks are stored. Each scope is read once.
 *
 * @returns `units`: unit by `scopeKey`; scopes that have no sensors, or are not read yet, are missing
 */
export function useScopeUnits(scopes: Scope[]): { units: ReadonlyMap<string, ScopeUnit>; loading: boolean } {
  const { client } = useServices();
  const known = useRef<Map<string, ScopeUnit>>(new Map());
  const wanted = new Map(scopes.map((scope) => [scopeKey(scope), scope]));
  const { loading } = useQuery(`units of ${[...wanted.keys()].sort().join(' ')}`, async (signal) => {
    const limit = createLimit(AT_ONCE);
    const missing = [...wanted].filter(([key]) => !known.current.has(key));
    await Promise.all(
      missing.map(async ([key, scope]) => {
        const unit = await limit.run(() => unitOfScope(client, scope, signal).catch(nullIfMissing), signal);
        if (unit) known.current.set(key, unit);
      }),
    );
  });
  return { units: known.current, loading };
}
