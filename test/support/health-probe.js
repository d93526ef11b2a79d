import { Worker } from 'node:worker_threads';

/** Runs in a separate thread, so that it measures the server and not a busy test. */
const PROBE = `
const { get } = require('node:http');
const { parentPort, workerData: url } = require('node:worker_threads');
const times = [];
let isStopped = false;
parentPort.once('message', () => { isStopped = true; });
function ask() {
  const began = performance.now();
  get(url, (response) => {
    response.resume().on('end', () => {
      times.push(performance.now() - began);
      if (isStopped) parentPort.postMessage(times);
      else setTimeout(ask, 10);
    });
  });
}
ask();
`;

/**
 * Requests a URL repeatedly, one request after the other.
 *
 * @param {string} url
 * @returns {{ stop: () => Promise<number[]> }} `stop` returns the time of each answer in ms
 */
export function startHealthProbe(url) {
  const worker = new Worker(PROBE, { eval: true, workerData: url });
  return {
    stop: () =>
      new Promise((resolve, reject) => {
        worker.once('error', reject);
        worker.once('message', (times) => {
          void worker.terminate();
          resolve(times);
        });
        worker.postMessage('stop');
      }),
  };
}
