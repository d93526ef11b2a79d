import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatCount, formatSpan } from '../../format.ts';
import { useKept, useQuery, useServices } from '../../state/hooks.ts';
import type { RefusedDevice } from './api.ts';
import { readRefusedDevices, readUnmatchedTopics } from './api.ts';

/** Interval of requests in ms. Clients usually publish on a wrong topic again and again. */
const REFRESH = { refreshMs: 10_000 };

const NONE: RefusedDevice[] = [];

/** Devices with refused messages in the last minutes. The header keeps them up to date. */
const createRefused = (): Signal<RefusedDevice[]> => signal(NONE);

/**
 * Keeps the refusals of the last minutes up to date. The header calls this hook, because the header is on every page. After a
 * failed request, the last answer stays. The verdict reports that the API or the database does not answer.
 *
 * @returns number of dead letters within the last hour; 0: not known yet
 */
export function useDeadLetterCount(): number {
  const { client } = useServices();
  const refused = useKept(createRefused);
  const { data } = useQuery('refused devices', (signal) => readRefusedDevices(client, signal), REFRESH);
  useEffect(() => {
    refused.value = data?.items ?? NONE;
  }, [refused, data]);
  return data?.dead_letters ?? 0;
}

/** @returns devices with refused messages in the last minutes, most refusals first */
export const useRefusedDevices = (): RefusedDevice[] => useKept(createRefused).value;

/** @returns refused measurements of the device; null: no message of the device was refused */
export function useRefusals(device: string): RefusedDevice | null {
  const refused = useRefusedDevices();
  return refused.find((one) => one.device_id === device || one.device === device) ?? null;
}

/** Time span of the refusal count of the API, in ms. */
const WINDOW_MS = 300_000;

/** @returns number of refused measurements as text: `6 in 5 min` */
export const refusalRate = ({ refused }: Pick<RefusedDevice, 'refused'>): string =>
  `${formatCount(refused)} in ${formatSpan(WINDOW_MS)}`;

/** Reads the unknown topics on which clients publish, refreshed in the background. */
export function useUnmatchedTopics() {
  const { client } = useServices();
  return useQuery('unmatched-topics', (signal) => readUnmatchedTopics(client, signal), REFRESH);
}
