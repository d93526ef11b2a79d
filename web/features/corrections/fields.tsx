import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { DeviceInfo } from '../../api/types.ts';
import { formatDate, formatTimeMs, formatZone } from '../../format.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { Field } from '../shared/form.tsx';
import { instantsOf } from './rules.ts';

/** Keeps a time that is typed in the zone of the page. In the repeated hour of autumn, a second field chooses the offset. */
export function useTime(label: string, start: number, { isExact = false } = {}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [typed, setTyped] = useState(() => textOf(start));
  const [offset, setOffset] = useState(zone.offsetAt(start));
  const instants = instantsOf(typed, zone);
  const ts = instants.find((at) => zone.offsetAt(at) === offset) ?? instants[0] ?? null;

  function textOf(at: number): string {
    return `${formatDate(at, zone)}T${formatTimeMs(at, zone).slice(0, isExact ? 12 : 8)}`;
  }
  function set(at: number) {
    setTyped(textOf(at));
    setOffset(zone.offsetAt(at));
  }

  const field = (
    <>
      <Field
        label={ts === null ? label : `${label}, ${formatZone(zone, ts)}`}
        type="datetime-local"
        step={isExact ? '0.001' : '1'}
        required
        value={typed}
        onValue={setTyped}
      />
      {instants.length > 1 && ts !== null && (
        <Field
          label="The clock shows this time twice"
          options={instants.map((at) => [String(zone.offsetAt(at)), formatZone(zone, at)] as const)}
          value={String(zone.offsetAt(ts))}
          onValue={(chosen) => setOffset(Number(chosen))}
        />
      )}
      {typed !== '' && ts === null && <FieldError>The clock skips this time. Choose another.</FieldError>}
    </>
  );
  return { ts, set, field };
}

export const FieldError = ({ children }: { children: ComponentChildren }) => (
  <p class="dialog-problem" role="alert">
    {children}
  </p>
);

/** Keeps a range. Its end is not included. */
export function useRange(start: { from: number; to: number }) {
  const from = useTime('From', Math.floor(start.from / SECOND_MS) * SECOND_MS);
  const to = useTime('To', Math.ceil(start.to / SECOND_MS) * SECOND_MS);
  const isOrdered = from.ts !== null && to.ts !== null && from.ts < to.ts;
  const fields = (
    <>
      {from.field}
      {to.field}
      {from.ts !== null && to.ts !== null && !isOrdered && <FieldError>From has to be before to.</FieldError>}
    </>
  );
  return { range: isOrdered ? { from: Number(from.ts), to: Number(to.ts) } : null, fields };
}

const SECOND_MS = 1000;

/** Keeps the choice of a sensor of a device. `all`: text of the choice of all sensors. */
export function useSensorChoice({ device, sensor, all }: { device: string; sensor: string; all?: string }) {
  const { client } = useServices();
  const { data } = useQuery(`sensors of ${device}`, (signal) => client.device(device, signal));
  const [chosen, setChosen] = useState(sensor);
  const sensors = data?.sensors ?? [];
  const first = all === undefined ? sensors[0]?.sensor_id : '';
  const id = chosen === '' ? (first ?? '') : chosen;
  const info: DeviceInfo['sensors'][number] | undefined = sensors.find(({ sensor_id }) => sensor_id === id);
  const options: [string, string][] = [
    ...(all === undefined ? [] : [['', all] as [string, string]]),
    ...sensors.map(({ sensor_id, name }): [string, string] => [sensor_id, name ?? sensor_id]),
  ];
  return {
    id,
    unit: info?.unit ?? null,
    name: info?.name ?? id,
    isRead: data !== null,
    field: <Field label="Sensor" options={options} value={id} onValue={setChosen} disabled={data === null} />,
  };
}

/** Keeps the reason of a correction. */
export function useReason() {
  const [reason, setReason] = useState('');
  const field = (
    <Field label="Reason, which the log shows" value={reason} onValue={setReason} maxlength={500} />
  );
  return { reason: reason.trim(), field };
}
