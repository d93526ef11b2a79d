import { formatCount } from '../../format.ts';
import { deviceHref } from '../../routes.ts';
import { useServices } from '../../state/hooks.ts';
import { ENTRIES_OF_KIND, More } from '../shared/stands-out.tsx';
import { refusalRate, useRefusedDevices } from './state.ts';
import './marks.css';
import type { Slots, StandsOutProps } from '../../feature.ts';
import type { Fleet } from '../../state/fleet.ts';
import type { Matcher } from '../../state/lists.ts';
import type { RefusedDevice } from './api.ts';

/** Maximum number of marks on the wall. The list next to the wall shows the full number. */
const MOST_MARKS = 500;

/** Marks the cells of devices whose messages are refused. */
export function RefusedMarks({ picture }: Slots['wallMarks']) {
  const { live } = useServices();
  const refused = useRefusedDevices();
  const sensors = refused.flatMap(({ device_id }) => live.fleet.devices.get(device_id)?.sensors ?? []);
  return sensors.slice(0, MOST_MARKS).map((sensor) => {
    const box = picture?.boxOf(sensor);
    if (!box) return null;
    return (
      <i
        key={sensor.key}
        class="wall-refused"
        aria-hidden="true"
        style={{ left: `${box.x}px`, top: `${box.y + box.height}px` }}
      />
    );
  });
}

export const RefusedLegend = () => (
  <li title="The API refuses what its device sends: see the dead letters">
    <i class="wall-refused" aria-hidden="true" />
    refused
  </li>
);

export const useRefusedCount = ({ matches }: StandsOutProps): number => useMatching(matches).length;

/** @returns devices with refused messages that have matching sensors */
function useMatching(matches: Matcher | null): RefusedDevice[] {
  const { live } = useServices();
  const every = useRefusedDevices();
  return matches ? every.filter((device) => isMatching(device, live.fleet, matches)) : every;
}

const isMatching = ({ device_id }: RefusedDevice, fleet: Fleet, matches: Matcher): boolean =>
  fleet.devices.get(device_id)?.sensors.some(matches) ?? false;

/** Renders the list of devices with refused messages, next to the wall, most refusals first. */
export function RefusedDevices({ matches }: StandsOutProps) {
  const { live } = useServices();
  const refused = useMatching(matches);
  if (refused.length === 0) return null;
  return (
    <div class="stands-out-kind">
      <h2>
        <a href="/dead-letters" title="Show the dead letters, with the reasons">
          Sends, but refused <b>{formatCount(refused.length)}</b>
        </a>
      </h2>
      <ul>
        {refused.slice(0, ENTRIES_OF_KIND).map((one) => {
          // If all messages of a device were refused, the device is not registered, and has no page to link to.
          const known = live.fleet.devices.get(one.device_id);
          return (
            <li key={one.device_id}>
              <a href={known ? deviceHref(one.device_id) : '/dead-letters'}>
                <span class="stands-out-name">
                  <span class="stands-out-what">{known?.name ?? one.device}</span>
                </span>
                <span class="stands-out-text" data-tone="bad">
                  {refusalRate(one)}
                </span>
              </a>
            </li>
          );
        })}
      </ul>
      {refused.length > ENTRIES_OF_KIND && (
        <More count={formatCount(refused.length - ENTRIES_OF_KIND)} href="/dead-letters" />
      )}
    </div>
  );
}
