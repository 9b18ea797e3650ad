/** Runs a task when the browser has nothing else to do. Safari has no `requestIdleCallback`. */
export function whenIdle(task: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(() => task())
  else setTimeout(task, 500)
}
