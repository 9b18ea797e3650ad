/** Parses server-sent events: takes bytes, yields the data of each event. */
import { createParser } from 'eventsource-parser'

/**
 * Packets may end anywhere, also within a character. Comments and fields other than `data` are ignored. The last event is
 * yielded even without its blank line, complete or not.
 * @param maxLength of an event, in UTF-16 units; throws RangeError beyond
 */
export async function* readEventData(
  packets: AsyncIterable<Uint8Array>,
  maxLength = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const events: string[] = []
  let isTooLong = false
  const parser = createParser({
    onEvent: ({ data }) => events.push(data),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded'
    },
    maxBufferSize: maxLength,
  })
  for await (const packet of packets) {
    parser.feed(decoder.decode(packet, { stream: true }))
    yield* events.splice(0)
    if (isTooLong) throw new RangeError(`an event is longer than ${maxLength}`)
  }
  parser.feed(`${decoder.decode()}\n\n`)
  yield* events
}
