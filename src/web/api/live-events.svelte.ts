/** Live events, and whether the server answers. A hidden page disconnects, and asks for what it missed when it is visible again. */
import { LIVE_EVENTS, type LiveEvent } from '../../model/api/machine.ts'
import { apiPath } from './client.ts'

type LiveListener = (event: LiveEvent) => void

const listeners = new Set<LiveListener>()
let source: EventSource | undefined
let lastEventId: string | undefined
let retry: ReturnType<typeof setTimeout> | undefined
const RETRY_MS = 3000
/** A server that restarts within this time is not reported as lost. */
const LOST_AFTER_MS = 2000
let lostTimer: ReturnType<typeof setTimeout> | undefined
let isLost = $state(false)

/** Reactive. */
export const connection = {
  get isLost(): boolean {
    return isLost
  },
}

/** @returns a function that unsubscribes */
export function onLiveEvent(listener: LiveListener): () => void {
  if (listeners.size === 0) {
    document.addEventListener('visibilitychange', followVisibility)
    connect()
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    document.removeEventListener('visibilitychange', followVisibility)
    disconnect()
  }
}

const followVisibility = (): void => (document.hidden ? disconnect() : connect())

function connect(): void {
  if (source || document.hidden) return
  const eventSource = new EventSource(apiPath('/live', { since: lastEventId }))
  source = eventSource
  for (const name of LIVE_EVENTS) eventSource.addEventListener(name, handleMessage)
  eventSource.onopen = () => {
    clearTimeout(lostTimer)
    lostTimer = undefined
    isLost = false
  }
  eventSource.onerror = () => {
    lostTimer ??= setTimeout(() => {
      isLost = true
    }, LOST_AFTER_MS)
    // While reconnecting, the browser itself sends the id of the last event.
    if (eventSource.readyState !== EventSource.CLOSED) return
    disconnect()
    retry = setTimeout(connect, RETRY_MS)
  }
}

function disconnect(): void {
  clearTimeout(retry)
  source?.close()
  source = undefined
}

function handleMessage(message: MessageEvent<string>): void {
  if (message.lastEventId !== '') lastEventId = message.lastEventId
  const event = JSON.parse(message.data) as LiveEvent
  for (const listener of listeners) listener(event)
}
