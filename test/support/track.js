/**
 * @param {() => Promise<unknown>} request
 * @returns {{ isAcknowledged: () => boolean, acknowledged: Promise<unknown> }} whether it has settled, and when
 */
export function track(request) {
  let isAcknowledged = false;
  const acknowledged = request().then(() => {
    isAcknowledged = true;
  });
  // A test that fails earlier does not wait for it, and must not end the process.
  acknowledged.catch(() => {});
  return { isAcknowledged: () => isAcknowledged, acknowledged };
}
