// Dashboards of measurements. They read the HTTP API by the data source Infinity, which takes arrays of objects.

/** Provisioned under this uid. */
const DATASOURCE = { type: 'yesoreyeram-infinity-datasource', uid: 'millrace-api' };

/**
 * A request for an array of objects.
 *
 * @typedef {object} ApiRequest
 * @property {string} path below `/api/v1`
 * @property {Record<string, string>} params with Grafana's variables
 * @property {Record<string, 'timestamp' | 'string' | 'number' | 'boolean'>} columns by member of an object
 */

/** @typedef {{ title: string, description: string, type: 'timeseries' | 'table', request: ApiRequest }} ApiPanel */

/** @param {ApiRequest} request @param {'timeseries' | 'table'} format @param {string} refId */
const target = ({ path, params, columns }, format, refId) => ({
  refId,
  datasource: DATASOURCE,
  type: 'json',
  source: 'url',
  parser: 'backend',
  format,
  url: `/api/v1${path}`,
  url_options: {
    method: 'GET',
    params: Object.entries(params).map(([key, value]) => ({ key, value })),
  },
  root_selector: 'items',
  columns: Object.entries(columns).map(([selector, type]) => ({ selector, text: selector, type })),
  filters: [],
});

/** @param {string} name @param {string} label @param {ApiRequest} request */
const choice = (name, label, request) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  query: { queryType: 'infinity', infinityQuery: target(request, 'table', name) },
  refresh: 2,
  sort: 1,
});

/** @param {string} name @param {string} label @param {string} value */
const text = (name, label, value) => ({
  name,
  label,
  type: 'textbox',
  query: value,
  current: { text: value, value },
});

const HEIGHT = 9;
const WIDTH = 12;

/**
 * @param {object} parts
 * @param {string} parts.uid
 * @param {string} parts.title
 * @param {string} parts.description
 * @param {Array<ReturnType<typeof choice> | ReturnType<typeof text>>} parts.variables
 * @param {ApiPanel[]} parts.panels
 */
const dashboard = ({ uid, title, description, variables, panels }) => ({
  uid,
  title,
  description,
  tags: ['millrace-measurements'],
  editable: false,
  graphTooltip: 1,
  refresh: '1m',
  schemaVersion: 39,
  time: { from: 'now-24h', to: 'now' },
  timezone: 'browser',
  links: [
    {
      type: 'dashboards',
      title: 'Measurements',
      tags: ['millrace-measurements'],
      asDropdown: true,
      keepTime: true,
    },
  ],
  templating: { list: variables },
  panels: panels.map((panel, at) => ({
    id: at + 1,
    type: panel.type,
    title: panel.title,
    description: panel.description,
    datasource: DATASOURCE,
    // The shortest step, and the most bins of a sensor.
    interval: '1s',
    maxDataPoints: 500,
    gridPos: { x: (at % 2) * WIDTH, y: Math.floor(at / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    targets: [target(panel.request, panel.type, 'A')],
    fieldConfig: { defaults: {}, overrides: [] },
    options: panel.type === 'timeseries' ? { tooltip: { mode: 'multi', sort: 'desc' } } : {},
  })),
});

/** Grafana replaces them: epoch milliseconds, and a width such as `1m`. */
const RANGE = { from: '$__from', to: '$__to' };
const BINS = { ...RANGE, step: '$__interval', format: 'rows' };

const LATEST = /** @type {const} */ ({
  name: 'string',
  value: 'number',
  unit: 'string',
  ts: 'timestamp',
  device: 'string',
});

const site = choice('site', 'Site', {
  path: '/outliers/groups',
  params: { by: 'site', limit: '1000' },
  columns: { site: 'string' },
});

export const sensorsDashboard = dashboard({
  uid: 'millrace-sensors',
  title: 'Millrace: sensors of a device',
  description:
    'The sensors of one device: values by time, their extremes, how many samples there are, and the latest.',
  variables: [
    site,
    choice('device', 'Device', {
      path: '/devices',
      params: { site: '$site', limit: '1000' },
      columns: { name: 'string' },
    }),
  ],
  panels: [
    {
      title: 'Averages',
      description: 'The average of each bin and sensor.',
      type: 'timeseries',
      request: {
        path: '/query',
        params: { device: '$device', ...BINS, aggregate: 'avg' },
        columns: { ts: 'timestamp', sensor: 'string', avg: 'number' },
      },
    },
    {
      title: 'Extremes',
      description: 'The least and the greatest value of each bin. No sample is left out.',
      type: 'timeseries',
      request: {
        path: '/query',
        params: { device: '$device', ...BINS, aggregate: 'min,max' },
        columns: { ts: 'timestamp', sensor: 'string', min: 'number', max: 'number' },
      },
    },
    {
      title: 'Samples',
      description: 'Samples in each bin. 0 is an outage of the sensor or of its connection.',
      type: 'timeseries',
      request: {
        path: '/query',
        params: { device: '$device', ...BINS, aggregate: 'count', fill: 'null' },
        columns: { ts: 'timestamp', sensor: 'string', count: 'number' },
      },
    },
    {
      title: 'Latest values',
      description: 'At the end of the range.',
      type: 'table',
      request: {
        path: '/latest',
        params: { device: '$device', asof: '$__to', limit: '1000' },
        columns: LATEST,
      },
    },
  ],
});

export const siteDashboard = dashboard({
  uid: 'millrace-site',
  title: 'Millrace: a site',
  description:
    'All sensors of one type at a site: by device, by day of the calendar, the latest, and the devices.',
  variables: [site, text('type', 'Type', 'temperature'), text('tz', 'Time zone of days', 'UTC')],
  panels: [
    {
      title: 'By device',
      description: 'The average of all samples of a device and bin.',
      type: 'timeseries',
      request: {
        path: '/query',
        params: { site: '$site', type: '$type', ...BINS, group: 'device', aggregate: 'avg' },
        columns: { ts: 'timestamp', device: 'string', avg: 'number' },
      },
    },
    {
      title: 'By day',
      description: 'Days begin at midnight by the clock of the time zone.',
      type: 'timeseries',
      request: {
        path: '/query',
        params: {
          site: '$site',
          type: '$type',
          ...RANGE,
          step: 'day',
          tz: '$tz',
          group: 'site',
          aggregate: 'avg,min,max',
          format: 'rows',
        },
        columns: { ts: 'timestamp', avg: 'number', min: 'number', max: 'number' },
      },
    },
    {
      title: 'Latest values',
      description: 'The first thousand sensors.',
      type: 'table',
      request: {
        path: '/latest',
        params: { site: '$site', type: '$type', limit: '1000' },
        columns: LATEST,
      },
    },
    {
      title: 'Devices',
      description: 'The first thousand devices.',
      type: 'table',
      request: {
        path: '/devices',
        params: { site: '$site', limit: '1000' },
        columns: { name: 'string', online: 'boolean', last_seen: 'timestamp' },
      },
    },
  ],
});
