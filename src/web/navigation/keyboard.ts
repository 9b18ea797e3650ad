/** Keyboard shortcuts. The last bindings come first, so that a dialog precedes the page below it. */
import { hasKey } from './offers.ts'

/** A key (`j`, `Escape`) or two in sequence (`g h`). An action that returns false passes the key on. */
export type KeyBindings = { readonly [key: string]: () => unknown }

const bindings: KeyBindings[] = []
let pairStart: { readonly key: string; readonly at: number } | undefined
const KEY_PAIR_MS = 1200
/** How many dialogs are loading. */
let paused = 0

/** Leaves out keys for what the server does not have. @returns a function that removes them */
export function bindKeys(all: KeyBindings): () => void {
  const keys = Object.fromEntries(Object.entries(all).filter(([key]) => hasKey(key)))
  if (bindings.length === 0) addEventListener('keydown', handleKey)
  bindings.push(keys)
  return () => {
    bindings.splice(bindings.lastIndexOf(keys), 1)
    if (bindings.length === 0) removeEventListener('keydown', handleKey)
  }
}

function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const { key, timeStamp } = event
  // Keys belong to an open dialog, also while nothing in it has the focus.
  if (paused > 0 || document.querySelector('dialog:modal')) return
  if (isTyping(event.target) && key !== 'Escape') return
  // Enter and Space belong to the focused button or link.
  if ((key === 'Enter' || key === ' ') && event.target instanceof Element && event.target.closest('a, button, summary'))
    return
  const pair = pairStart && timeStamp - pairStart.at < KEY_PAIR_MS ? `${pairStart.key} ${key}` : undefined
  pairStart = undefined
  if ((pair !== undefined && runBinding(pair)) || runBinding(key)) event.preventDefault()
  else if (bindings.some((keys) => Object.keys(keys).some((name) => name.startsWith(`${key} `))))
    pairStart = { key, at: timeStamp }
}

/** Runs no shortcut until something opened: keys pressed until then are meant for it, not for the page. */
export function pauseKeys(opening: Promise<unknown>): void {
  paused++
  void opening.finally(() => paused--)
}

/** Runs the action of a key as if it had been pressed on the page. */
export const runKey = (key: string): void => void runBinding(key)

const runBinding = (key: string): boolean =>
  bindings.toReversed().some((keys) => {
    const action = keys[key]
    return action !== undefined && action() !== false
  })

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
