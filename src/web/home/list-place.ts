/** Where the reader left the list or the results of a search, so that coming back shows the same rows. */
import { countWhile } from '../conversation/message-rows.ts'
import { here } from '../navigation/router.svelte.ts'

/** The first visible row of the last list or search, and its distance from the top of the window. */
let savedPlace: { readonly href: string; readonly row: string; readonly top: number } | undefined

const HEADER_HEIGHT = 48
const MAX_RESTORE_MS = 1500
const READER_EVENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown']

/** The row that was opened last: it has the focus again when the reader comes back. */
let openedRow: { readonly href: string; readonly row: string } | undefined

/** Restores place and focus, and saves them while the reader scrolls and opens rows. @returns a function that stops it */
export function keepListPlace(): () => void {
  const stopRestoring = restorePlace()
  addEventListener('scroll', savePlace, { passive: true })
  document.addEventListener('click', saveRow, { capture: true })
  return () => {
    removeEventListener('scroll', savePlace)
    document.removeEventListener('click', saveRow, { capture: true })
    stopRestoring()
  }
}

function saveRow({ target }: MouseEvent): void {
  const row = target instanceof Element ? target.closest<HTMLElement>('a[data-row]')?.dataset['row'] : undefined
  if (row !== undefined) openedRow = { href: location.href, row }
}

const rowElement = (row: string): HTMLElement | null => document.querySelector(`[data-row="${CSS.escape(row)}"]`)

function savePlace(): void {
  if (here.path !== '/') return
  const rows = document.querySelectorAll<HTMLElement>('[data-row]')
  const bottomOf = (at: number): number => rows[at]?.getBoundingClientRect().bottom ?? 0
  const first = rows[countWhile(rows.length, (at) => bottomOf(at) <= HEADER_HEIGHT)]
  const row = first?.dataset['row']
  savedPlace =
    first && row && scrollY > 0 ? { href: location.href, row, top: first.getBoundingClientRect().top } : undefined
}

/**
 * Rows above have estimated heights until they are drawn, and results of a search arrive one by one, so the place is
 * corrected until it holds or the reader scrolls.
 */
function restorePlace(): () => void {
  const place = savedPlace?.href === location.href ? savedPlace : undefined
  let opened = openedRow?.href === location.href ? openedRow : undefined
  if (!place && !opened) return () => {}
  const startedAt = performance.now()
  let frame = requestAnimationFrame(correct)
  const stop = (): void => {
    cancelAnimationFrame(frame)
    for (const name of READER_EVENTS) removeEventListener(name, stop)
  }
  function correct(): void {
    const row = place && rowElement(place.row)
    if (row) scrollBy(0, row.getBoundingClientRect().top - place.top)
    const link = opened && document.activeElement === document.body ? rowElement(opened.row) : null
    if (link) {
      link.focus({ preventScroll: true })
      opened = undefined
    }
    if (performance.now() - startedAt < MAX_RESTORE_MS) frame = requestAnimationFrame(correct)
    else stop()
  }
  for (const name of READER_EVENTS) addEventListener(name, stop, { passive: true })
  return stop
}
