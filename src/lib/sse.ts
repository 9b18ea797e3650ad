/** Reads server-sent events: bytes in, the data of each event out. */

/**
 * Packets may be cut anywhere, also within a letter. Comments and fields other than `data` are passed over; an event that
 * lacks its blank line at the very end is given all the same, whole or not.
 * @param maxLength of an event, in UTF-16 units; throws RangeError beyond
 */
export async function* readEventData(
  packets: AsyncIterable<Uint8Array>,
  maxLength = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lines = new LineReader()
  let data: string[] = []
  let length = 0
  for await (const packet of packets) {
    for (const line of lines.add(decoder.decode(packet, { stream: true }))) {
      if (line !== '') {
        addData(data, line)
        length += line.length
      } else if (data.length > 0) {
        yield data.join('\n')
        data = []
        length = 0
      }
    }
    if (length + lines.openLength > maxLength) throw new RangeError(`an event is longer than ${maxLength}`)
  }
  for (const line of lines.end(decoder.decode())) addData(data, line)
  if (data.length > 0) yield data.join('\n')
}

function addData(data: string[], line: string): void {
  const field = /^data(?:: ?|$)/.exec(line)
  if (field) data.push(line.slice(field[0].length))
}

/** Lines end with CR, LF or both. */
class LineReader {
  #pending: string[] = []
  /** How much of a line has come that has no end yet. */
  openLength = 0

  add(text: string): readonly string[] {
    // An empty packet, or a part of a letter, says nothing of the CR before it.
    if (text === '') return []
    // A CR at the end may be half of a line's end.
    const endsWithCr = text.endsWith('\r')
    if (!endsWithCr && !/[\r\n]/.test(text) && !this.#pending.at(-1)?.endsWith('\r')) {
      this.#pending.push(text)
      this.openLength += text.length
      return []
    }
    const lines = (this.#pending.join('') + (endsWithCr ? text.slice(0, -1) : text)).split(/\r\n|\n|\r/)
    const rest = (lines.pop() ?? '') + (endsWithCr ? '\r' : '')
    this.#pending = [rest]
    this.openLength = rest.length
    return lines
  }

  end(text: string): readonly string[] {
    return [...this.add(text), ...this.#pending.join('').split('\r')].filter((line) => line !== '')
  }
}
