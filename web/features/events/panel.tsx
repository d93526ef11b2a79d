import { useEffect, useRef } from 'preact/hooks';
import type { DeviceInfo } from '../../api/types.ts';
import type { DevicePage, TimeAxisProps } from '../../feature.ts';
import { useDeviceEvents } from './history.ts';
import { EventList } from './list.tsx';
import { EventStrip } from './strip.tsx';

/** Lists the events of a device, and draws its online times above its charts. */
export function useDevice(device: DeviceInfo, { stale, reload }: DevicePage) {
  const history = useDeviceEvents(device.device_id);
  const newest = history.events?.[0]?.ts ?? null;
  useNews(history.events && (newest ?? ''), reload);
  return {
    axis: (props: TimeAxisProps) => <EventStrip newest={newest} {...props} />,
    panel: (
      <section class="panel event-panel" aria-label="Events">
        <EventList
          history={history}
          online={device.state === 'online' && stale === null}
          isImported={device.last_seen === null}
        />
      </section>
    ),
  };
}

/**
 * Reads the device again after a new event, because its state and sensors may have changed.
 *
 * @param newest time of the newest event; empty: there are no events; null: unknown yet
 */
function useNews(newest: string | null, reload: () => void) {
  const last = useRef(newest);
  useEffect(() => {
    const isNews = last.current !== null && newest !== last.current;
    last.current = newest;
    if (isNews) reload();
  }, [newest, reload]);
}
