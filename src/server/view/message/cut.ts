/** Long texts: their beginning here, the whole where it is asked for. */
import type { LeftOut } from '../../../model/api/message.ts'

/** Texts of more bytes come on demand. */
export const LONG = 100_000
/** Letters that are shown of them. */
const SHOWN = 8_000

/** What was left out of one message, gathered on the way. */
export class Cuts {
  readonly #address: string
  readonly #whole: boolean
  readonly left: LeftOut[] = []

  /** @param address of the message @param whole nothing is cut */
  constructor(address: string, whole = false) {
    this.#address = address
    this.#whole = whole
  }

  /** The text, or its beginning. @param address of the message that holds it, where that is another */
  text(field: string, text: string, address = this.#address): string {
    if (this.#whole || text.length * 3 <= LONG) return text
    const bytes = Buffer.byteLength(text)
    if (bytes <= LONG) return text
    this.#note(field, bytes, address)
    return beginning(text)
  }

  /** The value, or nothing where it is long. @param text of which it was parsed, where there is one */
  value<T extends object>(field: string, value: T | undefined, text?: string, address = this.#address): T | undefined {
    if (value === undefined || this.#whole || (text !== undefined && text.length * 3 <= LONG)) return value
    const bytes = sizeOf(value)
    if (bytes <= LONG) return value
    this.#note(field, bytes, address)
    return undefined
  }

  #note(field: string, bytes: number, address: string): void {
    this.left.push({ field, bytes, url: `${address}/field?name=${encodeURIComponent(field)}` })
  }
}

/** Never half of a letter. */
function beginning(text: string): string {
  const last = text.charCodeAt(SHOWN - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? SHOWN - 1 : SHOWN)
}

/** About as many as it has as JSON; as many as are too many where it is nested too deep to be written. */
function sizeOf(value: object): number {
  try {
    return JSON.stringify(value).length
  } catch {
    return Number.MAX_SAFE_INTEGER
  }
}

export const addressOf = (session: string, message: string): string =>
  `/api/sessions/${encodeURIComponent(session)}/messages/${encodeURIComponent(message)}`
