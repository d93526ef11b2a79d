import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import type { LatestItem } from '../../api/types.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { itemOf } from '../../state/lists.ts';
import { Field } from '../shared/form.tsx';
import type { AssetMember } from './api.ts';
import { sensorsOf } from './condition.ts';
import type { Mark } from './plan-marks.tsx';

/** Maximum number of sensors that the field offers. */
const MOST_OFFERED = 1000;

type Sensor = Pick<LatestItem, 'device_id' | 'sensor_id' | 'device' | 'name'>;

const labelOf = ({ device, device_id, name, sensor_id }: Sensor) =>
  `${device ?? device_id} / ${name ?? sensor_id}`;

/** Renders a field that brings a sensor of the asset, or of one below it, onto the plan. */
export function SensorChoice({
  marks,
  members,
  isLarge,
  onChoice,
}: {
  marks: readonly Mark[];
  members: AssetMember[];
  isLarge: boolean;
  onChoice: (ids: { device_id: string; sensor_id: string }) => void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  const sensors = useSensors(members, isLarge, text);
  const placed = new Set(marks.map(keyOf));
  const offered = sensors.filter((sensor) => !placed.has(keyOf(sensor))).slice(0, MOST_OFFERED);

  function type(next: string) {
    const chosen = offered.find((sensor) => labelOf(sensor) === next);
    setText(chosen ? '' : next);
    if (chosen) onChoice({ device_id: chosen.device_id, sensor_id: chosen.sensor_id });
  }

  return (
    <>
      <Field
        label={isLarge ? 'Sensor: the beginning of its name' : 'Sensor'}
        value={text}
        onValue={type}
        list={id}
      />
      <datalist id={id}>
        {offered.map((sensor) => (
          <option key={keyOf(sensor)} value={labelOf(sensor)} />
        ))}
      </datalist>
    </>
  );
}

/** @returns the sensors below the asset; in a large fleet, those whose name begins with the text */
function useSensors(members: AssetMember[], isLarge: boolean, text: string): Sensor[] {
  const { client, live } = useServices();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isAsked = isLarge && asked !== '';
  const { data } = useQuery(isAsked ? `sensors ${asked}` : 'no sensors', async (signal) =>
    isAsked ? (await client.latest({ name: asked, limit: MOST_OFFERED }, signal)).items : [],
  );
  const structure = live.fleet.structure();
  return useMemo(() => {
    if (!isLarge) return members.flatMap((member) => sensorsOf(member, live.fleet)).map(itemOf);
    const devices = new Set(members.map(({ device_id }) => device_id));
    return (data ?? []).filter(({ device_id }) => devices.has(device_id));
  }, [live, members, isLarge, structure, data]);
}

/** Pause in typing after which the API is requested, in ms. */
const PAUSE_MS = 300;
