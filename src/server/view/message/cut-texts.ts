/** Long texts: their beginning here, the whole where it is asked for. */
import type { LeftOut } from '../../../model/api/message.ts'

/** Texts of more bytes come on demand. */
export const MAX_INLINE_BYTES = 100_000
/** Letters that are shown of them. */
const SHOWN_LENGTH = 8_000

/** What was left out of one message, gathered on the way. */
export class TextCuts {
  readonly #address: string
  readonly #isUncut: boolean
  readonly omitted: LeftOut[] = []

  /** @param address of the message @param isUncut nothing is cut */
  constructor(address: string, isUncut = false) {
    this.#address = address
    this.#isUncut = isUncut
  }

  /** The text, or its beginning. @param address of the message that holds it, where that is another */
  text(field: string, text: string, address = this.#address): string {
    if (this.#isUncut || text.length * 3 <= MAX_INLINE_BYTES) return text
    const bytes = Buffer.byteLength(text)
    if (bytes <= MAX_INLINE_BYTES) return text
    this.#note(field, bytes, address)
    return cutText(text)
  }

  /** The value, or nothing where it is long. @param text of which it was parsed, where there is one */
  value<T extends object>(field: string, value: T | undefined, text?: string, address = this.#address): T | undefined {
    if (value === undefined || this.#isUncut || (text !== undefined && text.length * 3 <= MAX_INLINE_BYTES))
      return value
    const bytes = jsonSizeOf(value)
    if (bytes <= MAX_INLINE_BYTES) return value
    this.#note(field, bytes, address)
    return undefined
  }

  #note(field: string, bytes: number, address: string): void {
    this.omitted.push({ field, bytes, url: `${address}/field?name=${encodeURIComponent(field)}` })
  }
}

/** Never half of a letter. */
function cutText(text: string): string {
  const last = text.charCodeAt(SHOWN_LENGTH - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? SHOWN_LENGTH - 1 : SHOWN_LENGTH)
}

/** About as many as it has as JSON; as many as are too many where it is nested too deep to be written. */
function jsonSizeOf(value: object): number {
  try {
    return JSON.stringify(value).length
  } catch {
    return Number.MAX_SAFE_INTEGER
  }
}

export const messageAddress = (session: string, message: string): string =>
  `/api/sessions/${encodeURIComponent(session)}/messages/${encodeURIComponent(message)}`
