/** The keyboard: whoever was bound last is asked first, so a dialog goes before the page under it. */

/** `j`, `Enter`, `Escape`, `?`, or two keys one after the other: `g h`. False lets others have it. */
export type Keys = { readonly [key: string]: () => unknown }

const bound: Keys[] = []
let first: { readonly key: string; readonly at: number } | undefined
/** Milliseconds between the two keys of a pair. */
const PAIR = 1200

/** @returns what unbinds them; fit for onMount */
export function bindKeys(keys: Keys): () => void {
  if (bound.length === 0) addEventListener('keydown', pressed)
  bound.push(keys)
  return () => {
    bound.splice(bound.lastIndexOf(keys), 1)
    if (bound.length === 0) removeEventListener('keydown', pressed)
  }
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const { key, timeStamp } = event
  if (isTyping(event.target) && key !== 'Escape') return
  // Enter and Space belong to the button or link that has the focus.
  if ((key === 'Enter' || key === ' ') && event.target instanceof Element && event.target.closest('a, button, summary'))
    return
  const pair = first && timeStamp - first.at < PAIR ? `${first.key} ${key}` : undefined
  first = undefined
  if ((pair !== undefined && run(pair)) || run(key)) event.preventDefault()
  else if (bound.some((keys) => Object.keys(keys).some((name) => name.startsWith(`${key} `))))
    first = { key, at: timeStamp }
}

const run = (key: string): boolean =>
  bound.toReversed().some((keys) => {
    const action = keys[key]
    return action !== undefined && action() !== false
  })

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
