/**
 * Runs clean-ups, the last registered one first, and forgets them. A failed clean-up does not stop the others, because their
 * processes would stay.
 * @throws what the first failure threw
 */
export async function runCleanUps(cleanUps: Array<() => unknown>) {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps.splice(0).reverse()) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
