/** Pieces that are made one after another, as the body of a reply: no faster than the client takes them. */

export function toByteStream(pieces: AsyncIterator<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = signal.aborted ? { value: undefined, done: true } : await pieces.next()
      if (done || value === undefined) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}
