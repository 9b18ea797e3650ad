/** Finds in the text as it was said what was found in its normal form, whose characters are fewer or more. */
import { normalised, withoutIgnored } from './characters.ts'
import type { Place } from './find.ts'

/** What may compose with the character before it: marks, the half-width voicing marks, and the later letters of a Korean syllable. */
const COMPOSES = '\\p{M}\\uff9e\\uff9f\\u1160-\\u11ff\\u3131-\\u318e\\uffa0-\\uffdc'
/** Before one of these a text may be cut before it is normalised. */
const INERT = new RegExp(`[^${COMPOSES}]`, 'gu')
const CLUSTER = new RegExp(`[\\s\\S][${COMPOSES}]*`, 'gu')
const BLOCK = 512

interface Block {
  readonly start: number
  readonly normalStart: number
  readonly text: string
}

/** From places in the normal form to places in the text. */
export function placesIn(text: string, normal: string): (place: Place) => Place {
  if (text === normal) return (place) => place
  const blocks = blocksOf(text)
  return ([start, end]) => [clusterAt(blocks, start)[0], clusterAt(blocks, Math.max(start, end - 1))[1]]
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  for (let start = 0, normalStart = 0; start < text.length; ) {
    INERT.lastIndex = start + BLOCK
    const block = text.slice(start, INERT.exec(text)?.index ?? text.length)
    blocks.push({ start, normalStart, text: block })
    start += block.length
    normalStart += normalLength(block)
  }
  return blocks
}

/** The characters of the text that became the one at `at` of the normal form. */
function clusterAt(blocks: readonly Block[], at: number): Place {
  const block = blocks.findLast((one) => one.normalStart <= at)
  if (!block) return [0, 0]
  let left = at - block.normalStart
  for (const { 0: cluster, index } of block.text.matchAll(CLUSTER)) {
    let start = block.start + index
    for (const piece of apart(cluster)) {
      left -= normalLength(piece)
      if (left < 0) return [start, start + piece.length]
      start += piece.length
    }
  }
  return [block.start + block.text.length, block.start + block.text.length]
}

/** The characters of a cluster where each stays by itself; all of it where some compose, change places or vanish. */
function apart(cluster: string): readonly string[] {
  const characters = Array.from(cluster)
  if (characters.length === 1) return characters
  const normal = characters.map(normalOf)
  return !normal.includes('') && normal.join('') === normalOf(cluster) ? characters : [cluster]
}

const normalOf = (text: string): string => withoutIgnored(normalised(text))
const normalLength = (text: string): number => normalOf(text).length
