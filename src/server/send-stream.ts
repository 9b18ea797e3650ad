/** Streams to clients: bodies in pieces, and events written as fast as the client reads them. */
import type { ServerResponse } from 'node:http'

export const isEventStream = (response: Response): boolean =>
  /^text\/event-stream\b/.test(response.headers.get('content-type') ?? '') && response.body !== null

/**
 * The adapter of the HTTP framework chains one promise to the next for as long as a stream lasts, and so keeps some hundred
 * bytes for every event that was ever sent. Streams that last for days are therefore written here.
 */
export async function sendStream(response: Response, outgoing: ServerResponse): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) throw new Error('the response has no body to stream')
  const stop = (): void => void reader.cancel().catch(() => {})
  outgoing.once('close', stop)
  outgoing.once('error', stop)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || outgoing.destroyed) break
      if (!outgoing.write(value)) await waitForDrain(outgoing)
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

/** Also returns when the client disconnects. */
function waitForDrain(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.once('drain', done)
    outgoing.once('close', done)
  })
}

/** A response body from pieces, produced as fast as the client reads. @param signal aborted when the client is gone */
export function toByteStream(pieces: AsyncIterator<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const next = signal.aborted ? undefined : await pieces.next()
      if (next && !next.done) return controller.enqueue(next.value)
      await pieces.return?.()
      controller.close()
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}
