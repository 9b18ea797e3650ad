/** Reads server-sent events: bytes in, the data of each event out. */

/**
 * Packets may be cut anywhere, also within a letter. Comments and fields other than `data` are passed over; an event that
 * lacks its blank line at the very end is given all the same, whole or not.
 */
export async function* eventData(packets: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const lines = new Lines()
  let data: string[] = []
  for await (const packet of packets) {
    for (const line of lines.add(decoder.decode(packet, { stream: true }))) {
      if (line !== '') addData(data, line)
      else if (data.length > 0) {
        yield data.join('\n')
        data = []
      }
    }
  }
  for (const line of lines.end(decoder.decode())) addData(data, line)
  if (data.length > 0) yield data.join('\n')
}

function addData(data: string[], line: string): void {
  const field = /^data(?:: ?|$)/.exec(line)
  if (field) data.push(line.slice(field[0].length))
}

/** Lines end with CR, LF or both. */
class Lines {
  #begun: string[] = []

  add(text: string): readonly string[] {
    // An empty packet, or a part of a letter, says nothing of the CR before it.
    if (text === '') return []
    // A CR at the end may be half of a line's end.
    const isCut = text.endsWith('\r')
    if (!isCut && !/[\r\n]/.test(text) && !this.#begun.at(-1)?.endsWith('\r')) {
      this.#begun.push(text)
      return []
    }
    const lines = (this.#begun.join('') + (isCut ? text.slice(0, -1) : text)).split(/\r\n|\n|\r/)
    this.#begun = [(lines.pop() ?? '') + (isCut ? '\r' : '')]
    return lines
  }

  end(text: string): readonly string[] {
    return [...this.add(text), ...this.#begun.join('').split('\r')].filter((line) => line !== '')
  }
}
