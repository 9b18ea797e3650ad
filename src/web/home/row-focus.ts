/** The rows of a list and the keys that go through them: the row with the focus is the one that is meant. */

const rowElements = (): readonly HTMLElement[] => Array.from(document.querySelectorAll<HTMLElement>('[data-row]'))

/** @param step 1 for the next, -1 for the one before. Without a focus it begins at the first. */
export function moveFocus(step: 1 | -1): boolean {
  const all = rowElements()
  const at = all.findIndex((row) => row === document.activeElement || row.contains(document.activeElement))
  const next = all[at < 0 ? 0 : at + step]
  if (!next) return false
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
  return true
}
