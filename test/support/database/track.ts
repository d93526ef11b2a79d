/** @returns whether the request was acknowledged, and a promise for it */
export function track(request: () => Promise<unknown>): {
  isAcknowledged: () => boolean;
  acknowledged: Promise<unknown>;
} {
  let isAcknowledged = false;
  const acknowledged = request().then(() => {
    isAcknowledged = true;
  });
  // A test that fails earlier does not wait for the promise. A rejection must not end the process.
  acknowledged.catch(() => {});
  return { isAcknowledged: () => isAcknowledged, acknowledged };
}
