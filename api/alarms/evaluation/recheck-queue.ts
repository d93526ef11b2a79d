import { forEachConcurrently } from '../../../common/concurrency.ts';

/** Limits of repeated evaluations that run concurrently: devices, and tasks of one device. */
const AT_ONCE = { devices: 2, tasks: 16 };

/**
 * Tasks that wait for a repeated evaluation. The tasks of a device begin together, so that they share the reads of its samples.
 */
export class RecheckQueue<Task extends { subject: { device: { id: string } } }> {
  #run;
  #onBatchEnd;
  /** Waiting tasks by device id, the longest waiting device first. */
  #waiting: Map<string, Set<Task>> = new Map();
  /** The waiting tasks of devices whose repeated evaluations have begun. */
  #batches: Set<Set<Task>> = new Set();
  /** Tasks whose repeated evaluation is running. */
  #running: Set<Task> = new Set();

  constructor({
    run,
    onBatchEnd,
  }: {
    /** evaluates a task, which `running` holds meanwhile */
    run: (task: Task, running: Set<Task>) => Promise<void>;
    /** called when all tasks of a device are evaluated */
    onBatchEnd: () => void;
  }) {
    this.#run = run;
    this.#onBatchEnd = onBatchEnd;
  }

  /** Number of tasks that wait, or are being evaluated. */
  get size() {
    let size = this.#running.size;
    for (const tasks of [...this.#waiting.values(), ...this.#batches]) size += tasks.size;
    return size;
  }

  /** @returns tasks that are being evaluated */
  get running(): Iterable<Task> {
    return this.#running;
  }

  add(task: Task) {
    const { id } = task.subject.device;
    const tasks = this.#waiting.get(id);
    if (tasks) tasks.add(task);
    else this.#waiting.set(id, new Set([task]));
  }

  /** Removes a task that waits. */
  remove(task: Task) {
    const { id } = task.subject.device;
    const tasks = this.#waiting.get(id);
    if (tasks?.delete(task) && tasks.size === 0) this.#waiting.delete(id);
    for (const batch of this.#batches) batch.delete(task);
  }

  /** Removes all tasks that wait. */
  clear() {
    this.#waiting.clear();
    for (const batch of this.#batches) batch.clear();
  }

  /** Begins the evaluation of waiting tasks, as far as the limits allow it. */
  next() {
    for (const [id, batch] of this.#waiting) {
      if (this.#batches.size >= AT_ONCE.devices) return;
      this.#waiting.delete(id);
      void this.#runBatch(batch);
    }
  }

  /** @param batch tasks of one device; is emptied */
  async #runBatch(batch: Set<Task>) {
    this.#batches.add(batch);
    await forEachConcurrently(Math.min(AT_ONCE.tasks, batch.size), batch, (task) => {
      batch.delete(task);
      return this.#run(task, this.#running);
    });
    this.#batches.delete(batch);
    this.#onBatchEnd();
  }
}
