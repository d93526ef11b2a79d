/**
 * Addresses of the dashboard's views, and the module below `/assets` that shows each; `web/routes.js` tells them apart in the browser,
 * and a test compares the two.
 */
export const VIEWS = [
  { path: '/', module: '/assets/views/fleet.js' },
  { path: '/devices/:device', module: '/assets/views/device.js' },
  { path: '/devices/:device/sensors/:sensor', module: '/assets/views/sensor.js' },
  { path: '/pipeline', module: '/assets/views/pipeline.js' },
  { path: '/dead-letters', module: '/assets/views/dead-letters.js' },
];
