/** The keyboard: whoever was bound last is asked first, so a dialog goes before the page under it. */

/** `j`, `Enter`, `Escape`, `?`, or two keys one after the other: `g h`. False lets others have it. */
export type KeyBindings = { readonly [key: string]: () => unknown }

const bindings: KeyBindings[] = []
let pairStart: { readonly key: string; readonly at: number } | undefined
/** Milliseconds between the two keys of a pair. */
const KEY_PAIR_MS = 1200

/** @returns what unbinds them; fit for onMount */
export function bindKeys(keys: KeyBindings): () => void {
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
  if (isTyping(event.target) && key !== 'Escape') return
  // Enter and Space belong to the button or link that has the focus.
  if ((key === 'Enter' || key === ' ') && event.target instanceof Element && event.target.closest('a, button, summary'))
    return
  const pair = pairStart && timeStamp - pairStart.at < KEY_PAIR_MS ? `${pairStart.key} ${key}` : undefined
  pairStart = undefined
  if ((pair !== undefined && runBinding(pair)) || runBinding(key)) event.preventDefault()
  else if (bindings.some((keys) => Object.keys(keys).some((name) => name.startsWith(`${key} `))))
    pairStart = { key, at: timeStamp }
}

const runBinding = (key: string): boolean =>
  bindings.toReversed().some((keys) => {
    const action = keys[key]
    return action !== undefined && action() !== false
  })

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
