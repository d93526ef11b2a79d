import { useState } from 'preact/hooks';
import { problemWords } from '../../api/request.ts';
import type { ChartSubject } from '../../feature.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { assetHref, stepsOf } from './address.ts';
import { type AssetPlaces, readPlaces } from './api.ts';
import { PlacementDialog } from './move-dialogs.tsx';
import './panel.css';

const REFRESH = { refreshMs: 60_000 };
const NOTHING = { plugins: [] };

/** Shows the place of the device or of the sensor below its chart. */
export function useChart({ device, sensor }: ChartSubject) {
  if (device === null) return NOTHING;
  return { ...NOTHING, panel: <Place key="place" device={device} sensor={sensor?.sensor_id ?? null} /> };
}

/** The present place of a sensor, which is that of its device unless it has its own. `sensor` null: of the device */
export function placeOf({ places }: AssetPlaces, sensor: string | null) {
  const present = places.filter(({ to }) => to === null);
  const own = present.find(({ sensor_id }) => sensor_id === sensor);
  return own ?? present.find(({ sensor_id }) => sensor_id === null) ?? null;
}

function Place({ device, sensor }: { device: { id: string; name: string }; sensor: string | null }) {
  const { client } = useServices();
  const may = useMay('admin');
  const [isOpen, setOpen] = useState(false);
  const { data, problem, reload } = useQuery(
    `places of ${device.id}`,
    (signal) => readPlaces(client, device.id, signal),
    REFRESH,
  );
  const place = data && placeOf(data, sensor);
  const what = sensor === null ? device.name : 'this sensor';
  return (
    <section class="panel asset-place below-chart" aria-label="Place">
      <h2>Place</h2>
      {place ? (
        <nav aria-label="Place of the device or sensor">
          <ol>
            {stepsOf(place.path).map(({ name, path }) => (
              <li key={path}>
                <a class="link" href={assetHref(path)}>
                  {name}
                </a>
              </li>
            ))}
          </ol>
        </nav>
      ) : (
        <p>{data ? 'At no asset.' : problem ? `${problemWords(problem).title}.` : 'Reading…'}</p>
      )}
      {sensor !== null && place?.sensor_id === sensor && <p class="quiet">Its own place</p>}
      <button
        type="button"
        class="button"
        aria-haspopup="dialog"
        disabled={!may || !data}
        title={may ? undefined : scopeText(place ? 'Move' : 'Place', 'admin')}
        onClick={() => setOpen(true)}
      >
        {place ? 'Move…' : 'Place…'}
      </button>
      {isOpen && (
        <PlacementDialog
          member={{ device: device.id, sensor }}
          name={what}
          present={place?.asset_id ?? null}
          onDone={() => {
            setOpen(false);
            reload();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </section>
  );
}
