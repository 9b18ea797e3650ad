/** Changes as they happen. A page that nobody looks at holds no connection, and asks for what it missed when it is back. */
import type { LiveEvent } from '../../model/api/machine.ts'
import { LIVE_EVENTS } from '../../model/api/machine.ts'
import { pathOf } from './client.ts'

type Listener = (event: LiveEvent) => void

const listeners = new Set<Listener>()
let source: EventSource | undefined
let last: string | undefined
let retry: ReturnType<typeof setTimeout> | undefined
const RETRY = 3000

/** @returns what ends it; fit for onMount */
export function onLive(listener: Listener): () => void {
  if (listeners.size === 0) {
    document.addEventListener('visibilitychange', looked)
    open()
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    document.removeEventListener('visibilitychange', looked)
    close()
  }
}

const looked = (): void => (document.hidden ? close() : open())

function open(): void {
  if (source || document.hidden) return
  const opened = new EventSource(pathOf('/live', { since: last }))
  source = opened
  for (const name of LIVE_EVENTS) opened.addEventListener(name, told)
  opened.onerror = () => {
    // While it is only connecting again, the browser itself says which event was the last.
    if (opened.readyState !== EventSource.CLOSED) return
    close()
    retry = setTimeout(open, RETRY)
  }
}

function close(): void {
  clearTimeout(retry)
  source?.close()
  source = undefined
}

function told(message: MessageEvent<string>): void {
  if (message.lastEventId !== '') last = message.lastEventId
  const event = JSON.parse(message.data) as LiveEvent
  for (const listener of listeners) listener(event)
}
