import { html } from 'htm/preact';
import { DeviceList } from '../components/device-list.js';
import { PipelineFigures } from '../components/pipeline-figures.js';
import { SensorList } from '../components/sensor-list.js';
import { useObservable, useParts } from '../state/hooks.js';
import { useTitle } from '../state/use-title.js';

/** The figures of the pipeline, and below them all sensors, or all devices, page by page. */
export function FleetView() {
  const { router } = useParts();
  const { query } = useObservable(router.place);
  useTitle('Fleet');

  return html`
    <h1 class="said">Fleet</h1>
    <${PipelineFigures} />
    ${query.get('show') === 'devices' ? html`<${DeviceList} />` : html`<${SensorList} />`}
  `;
}
