import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { DeviceList } from '../components/device-list.js';
import { PipelineFigures } from '../components/pipeline-figures.js';
import { SensorList } from '../components/sensor-list.js';
import { useFleetInfo, useFleetState } from '../state/fleet-state.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';
import { FleetWall } from '../wall/fleet-wall.js';

/** The fleet at a glance: key figures, a wall of all sensors, and below them the same as lists, page by page. */
export function FleetView() {
  const { live, router } = useServices();
  const { query } = useObservable(router.place);
  const fleetState = useFleetState();
  const info = useFleetInfo(fleetState);
  useTitle('Fleet');
  useEffect(() => live.follow({}), [live]);
  const isEmpty = info?.sensors === 0 && live.fleet.sensors.size === 0;

  return html`
    <h1 class="visually-hidden">Fleet</h1>
    <${PipelineFigures} fleetState=${fleetState} />
    ${!isEmpty && html`<${FleetWall} info=${info} fleetState=${fleetState} />`}
    ${query.get('show') === 'devices' ? html`<${DeviceList} fleet=${info} />` : html`<${SensorList} />`}
  `;
}
