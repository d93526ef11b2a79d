/** In ms for each task of a stop: sending the waiting items, writing notes, and finishing the present step. */
export const STOP_WITHIN_MS = 1500;

export async function withTimeLimit(work: Promise<unknown>, withinMs: number = STOP_WITHIN_MS) {
  let limit: NodeJS.Timeout | undefined;
  const tooLong = new Promise((resolve) => {
    limit = setTimeout(resolve, withinMs);
  });
  await Promise.race([work, tooLong]).finally(() => clearTimeout(limit));
}
