import { useEffect } from 'preact/hooks';
import { Slot, useFleetPicture, useJudgment } from '../../kit/slots.tsx';
import { useFleetInfo, useFleetState } from '../../state/fleet-state.ts';
import { useServices, useTitle } from '../../state/hooks.ts';
import { DeviceFilters, DeviceList } from './device-list.tsx';
import { SensorFilters, SensorList } from './sensor-list.tsx';

export function FleetView() {
  const { live, router } = useServices();
  const { query } = router.place.value;
  const fleetState = useFleetState();
  const info = useFleetInfo(fleetState);
  useTitle('Fleet');
  const filter = { type: query.get('type'), site: query.get('site') };
  const judgment = useJudgment();
  const by = (info && judgment?.groupingOf(info, filter)) ?? null;
  const grouping = judgment && by !== null ? { ...judgment, by } : null;
  useEffect(() => (by ? live.followFigures() : live.follow({})), [live, by]);
  const isDevices = query.get('show') === 'devices';
  const isEmpty = info?.sensors === 0 && live.fleet.sensors.size === 0;
  const picture = useFleetPicture();
  const isAlone = picture?.isAlone(query) && !isEmpty;
  const filters = isDevices ? (
    <DeviceFilters fleet={info} />
  ) : (
    <SensorFilters isPaged={grouping !== null || live.fleet.isNarrow()} />
  );

  return (
    <>
      <h1 class="visually-hidden">Fleet</h1>
      {!isAlone && <Slot name="fleetFigures" fleetState={fleetState} />}
      {!isEmpty &&
        (picture ? (
          <picture.Picture {...{ info, fleetState, grouping }}>{filters}</picture.Picture>
        ) : (
          <section class="panel" aria-label="Filters">
            {filters}
          </section>
        ))}
      {!isAlone && (isDevices ? <DeviceList fleet={info} /> : <SensorList />)}
    </>
  );
}
