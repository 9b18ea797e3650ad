/** Tells by a log's raw bytes that it cannot hold what a query asks for. Never wrong when it says no. */
import type { Node, Query, Term } from '../../archive/text/query.ts'

/** Given pieces of a file, in latin1 and overlapping, until it answers. */
export interface RawTest {
  /** True: it may be there, no need to look further. */
  piece(text: string): boolean
  /** After the last piece. */
  mayHold(): boolean
}

/** How far pieces must overlap. */
export const OVERLAP = 256

/**
 * Characters that the search takes for others: accents, full width and half width, ligatures, escapes. Where they are, bytes
 * prove nothing.
 */
const ODD =
  /[\xc3-\xca\xcc\xcd][\x80-\xbf]|\xe1[\x84-\x87\xb8-\xbf]|\xe2(?:\x84|\x85|\x86[\x80-\x8f]|[\x91-\x93])|\xef[\xa4-\xbf]|\xf0\x9d|\\u(?!00[0-7])[0-9a-fA-F]{4}/

/** Nothing when bytes cannot tell: then every log has to be read. */
export function rawTestOf({ must }: Query): (() => RawTest) | undefined {
  if (!must) return undefined
  const needles: RegExp[] = []
  const needs = needsOf(must, needles)
  if (needles.length === 0) return undefined
  return () => new Test(needles, needs)
}

class Test implements RawTest {
  readonly #needles: readonly RegExp[]
  readonly #needs: Needs
  readonly #seen: boolean[]
  #isOdd = false

  constructor(needles: readonly RegExp[], needs: Needs) {
    this.#needles = needles
    this.#needs = needs
    this.#seen = needles.map(() => false)
  }

  piece(text: string): boolean {
    this.#needles.forEach((needle, at) => {
      this.#seen[at] ||= needle.test(text)
    })
    if (this.#needs(this.#seen)) return true
    this.#isOdd ||= ODD.test(text)
    return this.#isOdd
  }

  mayHold(): boolean {
    return this.#isOdd || this.#needs(this.#seen)
  }
}

type Needs = (seen: readonly boolean[]) => boolean

function needsOf(node: Node, needles: RegExp[]): Needs {
  if (node.kind === 'term') {
    const needle = needleOf(node)
    if (!needle) return () => true
    const at = needles.push(needle) - 1
    return (seen) => seen[at] === true
  }
  const parts = node.of.map((one) => needsOf(one, needles))
  return node.kind === 'any' ? (seen) => parts.some((part) => part(seen)) : (seen) => parts.every((part) => part(seen))
}

/** Where an identifier may be cut, and runs of characters that have no case and no other form. */
const PIECES = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]+/g

/** The longest piece that must stand in the bytes as it is, but for its case. */
function needleOf({ text }: Term): RegExp | undefined {
  const pieces = text.normalize('NFKC').match(PIECES) ?? []
  let longest = ''
  for (const piece of pieces) {
    const bytes = Buffer.from(piece).toString('latin1')
    if (bytes.length > longest.length) longest = bytes
  }
  if (longest === '' || longest.length > OVERLAP / 2) return undefined
  return new RegExp(longest, /[a-z]/i.test(longest) && !/[\x80-\xff]/.test(longest) ? 'i' : '')
}
