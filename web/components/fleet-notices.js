import { html } from 'htm/preact';
import { Notice } from './notice.js';

/** @param {{ href: string }} props where all sensors are shown */
export const NoMatch = ({ href }) => html`
  <${Notice} title="No sensor matches">
    <p>Types and sites must match as a whole, names from their beginning.</p>
    <p><a class="button" href=${href}>Show all sensors</a></p>
  <//>
`;

export const NoDevice = () => html`
  <${Notice} title="No device matches">
    <p>Sites must match as a whole, names from their beginning.</p>
    <p><a class="button" href="/?show=devices">Show all devices</a></p>
  <//>
`;

/** The first thing a newcomer may see: what to do next. */
export const EmptyFleet = () => html`
  <${Notice} title="No sensor has spoken yet">
    <p>The first measurement appears here by itself. Send one:</p>
    <pre><code>mosquitto_pub -q 1 -t iot/v1/kitchen/measurements \\
  -m '{"sensor_id":"temperature","value":21.5}'</code></pre>
    <p>Or start a simulated fleet with <code>npm run simulator</code>.</p>
  <//>
`;
